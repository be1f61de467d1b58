// Package lsptest is a scripted language server for tests: in memory over pipes
// (New and Dial; works inside a testing/synctest bubble), as a child process that
// is the test binary run again (Main and Command), and as a small command for use
// by hand (cmd/lsptest). All three play the same script, and all three check the
// client: whoever breaks a rule of the protocol fails the test.
//
// It has its own framing and its own reading of messages, so that faults of
// internal/jsonrpc and internal/lsp cannot cancel out.
//
// # Script
//
// A script is text, optionally followed by txtar sections ("-- defs.json --") that
// hold data. A line is a statement; "#" begins a comment at the start of a line or
// after a space. Indented lines continue the statement above: each adds one more
// action to its list. On one line, actions are separated by " | " or " ; ".
//
// Words are separated by spaces. "…" is a quoted word with Go escapes; where JSON is
// expected it is a JSON string. A word that begins with { or [ reaches to the end of
// that JSON value. @name stands for the text of a section. In all JSON and texts
// these are replaced when used:
//
//	${root}         folder given in initialize
//	${rooturi}      its URI as the client spelled it
//	${uri:a.go}     file URI of a path below the root (absolute paths stay)
//	${version:a.go} version the client gave last, 0 when not open
//	${text:a.go}    its text as reconstructed, as a JSON string
//	${count:M}      how many messages with method M have arrived
//	${generation}   number of the process, from 1
//	${id} ${params} ${uri} ${line} ${character} ${token} ${partial} of the message
//	                being handled: raw id, raw params, its document's URI, its
//	                position, its workDoneToken, its partialResultToken
//
// Methods may be written short: didOpen, didChange, didSave, didClose, definition,
// references, hover, implementation, documentSymbol, diagnostic, completion,
// codeAction, rename, … for textDocument/…; symbol, didChangeWatchedFiles,
// didChangeConfiguration, configuration, … for workspace/…. "*" is any method.
//
// # Selectors
//
// After a method may stand a path (its textDocument.uri must be that file), and in
// any order: when=TEXT (the raw params contain it), n=K (only the K-th message that
// fits), gen=K or gen=K+ (only in that process, or from it on), times=K (the rule
// is used K times, then the next rule of the method is tried).
//
// # Statements
//
//	initialize JSON       the whole result of initialize: {"capabilities":{…}}
//	capabilities JSON     keys that replace those of the default capabilities;
//	                      null removes one
//	on METHOD … ACTIONS   how a request is answered. The first rule that fits is
//	                      taken. Rules with the same selector are used in order,
//	                      each once or times=K times; the last one repeats for ever
//	                      unless it has times= (then comes the default answer). A
//	                      ":" before the actions is optional, and when=, times=, n=
//	                      and gen= may stand behind them. A list without reply,
//	                      echo, error, raw or hang ends with the default answer
//	after METHOD …: ACTIONS   after a notification arrived, or after a request was
//	                      answered (was left hanging); every time, unless n= or times=
//	after initialize: …   after the answer to initialize
//	before initialize-reply: ACTIONS
//	at start: ACTIONS     before anything was read; a bare action does the same
//	expect METHOD …       at the end at least one such message has arrived; also
//	                      version=N, text=@after.go (text of the document after this
//	                      message, as reconstructed), language=ID
//	expect none METHOD …  no such message
//	expect count METHOD … N
//	expect order M1 M2 M3 these arrived in this order (others between them are
//	                      fine); M:path selects a document; gen=K as always
//	expect exactly M1 M2 …    exactly these messages arrived, in this order
//	allow RULE…           switches checks off, see below
//	check disk            each request about an open document finds it equal to the
//	                      file on disk (a byte order mark aside)
//	line-ends lf          this server ends lines at \n only (the rules range and
//	                      surrogate, and the reconstruction of texts, follow it)
//	crash on METHOD …     same as "on METHOD … crash"
//	exit-code N           exit code on exit instead of 0 (1 without shutdown)
//
// The default capabilities: incremental sync with openClose and save, every
// provider true but diagnosticProvider (say capabilities {"diagnosticProvider":…}),
// and no positionEncoding (UTF-16). Requests without a rule are answered null, pull
// diagnostics with an empty full report, unknown methods with -32601.
//
// An "expect" without gen= is about all processes together.
//
// # Actions
//
// Actions run at once, in order with what was read; sleep, wait and request pause
// their own list only, never the reading.
//
//	reply JSON | reply @def.json     (in "on" only; also: echo = the params)
//	error CODE "text" [data=JSON]
//	raw JSON              a whole message body, e.g. {"jsonrpc":"2.0","id":${id}}
//	hang                  never answer ($/cancelRequest makes it -32800)
//	delay 200ms ACTION    sleep, then the action
//	sleep 300ms           virtual time in a bubble
//	wait METHOD … [count=K]   until the K-th such message has arrived (default: next one)
//	publish a.go [version=N|version=current] JSON   publishDiagnostics
//	progress create TOK   asks window/workDoneProgress/create and waits
//	progress begin TOK "title" [percent]
//	progress report TOK [percent] ["text"]
//	progress end TOK ["text"]
//	log TYPE "text"       window/logMessage; showMessage TYPE "text"
//	status true|false [health=ok] [message="text"]   experimental/serverStatus
//	notify METHOD [JSON]
//	request METHOD [JSON] [expect JSON] [expect-error CODE] [nowait]
//	                      asks the client and waits for the answer; expect compares
//	                      JSON values; an error without expect-error is a failure
//	                      of the rule "answer"
//	register METHOD [JSON] [id=ID]   client/registerCapability with registerOptions
//	unregister METHOD [id=ID]
//	crash                 end at once, exit status 2, with a line on stderr
//	exit N                end at once with this code
//	cpu 5s | cpu busy | cpu idle | cpu unknown    (in memory) processor time used
//	memory N              (in memory) resident bytes
//	stderr "text"         a line on stderr
//
// Transport mischief, from then on:
//
//	garbage "some log line"   a line on stdout outside of any message
//	bytes "Content-Length: 7\r\n"   exactly these bytes on stdout
//	message JSON          a framed message with this body (need not be JSON: quoted
//	                      words are taken as they are)
//	split N               every message in pieces of N bytes; split 0 ends it
//	join                  messages of one list of actions in one write
//	header lowercase | header content-type | header content-type-first | header plain
//	id string | id digits | id zero | id number   ids of our requests: "s1", "1", from 0, from 1
//	flood publish N files=M | flood log N | flood progress N | flood stderr N
//	ignore shutdown|exit|eof|term|cancel
//	stop reading
//	close stdout
//	spawn child holding stdout    a grandchild keeps stdout open until killed (in
//	                      memory: stdout stays open until Kill or Terminate)
//
// # Rules that are checked
//
// Each is reported once per server with the message that broke it, and can be
// switched off by "allow RULE":
//
//	framing          header well formed, Content-Length exact, no stray bytes
//	jsonrpc          a JSON object, "jsonrpc":"2.0", a request, notification or answer
//	request-id       ids of requests are numbers or strings and never used twice
//	before-reply     nothing but initialize (its cancel, exit, answers) before its answer
//	initialize-once  one initialize, one initialized
//	before-initialized   nothing else between the answer and initialized
//	process-id       processId is the owner's
//	roots            rootUri, rootPath and workspaceFolders are there and agree
//	open-twice       didOpen of an open document
//	not-open         didChange, didSave, didClose of a document that is not open
//	request-not-open requests about one (unless openClose is false)
//	open-close       didOpen or didClose when the server did not ask for them
//	change-kind      didChange when sync is none; a range when sync is full
//	first-version    the first version of a document in a process is 1
//	version          versions strictly increase, also over close and open
//	range            ranges lie inside the text, start before end
//	surrogate        no position inside a surrogate pair or a UTF-8 sequence
//	save             didSave only when wanted, text as wanted and equal
//	watched-files    didChangeWatchedFiles only while registered
//	capability       requests only for what is provided or registered
//	cancel           $/cancelRequest names a request, once
//	answer           answers belong to a request of ours, same id token, once; result or
//	                 error; no error where the script expects none
//	unanswered       a request of ours from before shutdown was never answered
//	configuration    as many items as asked
//	shutdown         shutdown before exit, end of input, Terminate or Kill (not when it
//	                 was hanging on a request, had refused initialize, or was gone)
//	after-shutdown   nothing after shutdown but exit, answers and cancels
//	exit             exit after an answered shutdown, before the end of input
//	trace            $/setTrace is never needed
//	disk             see "check disk"
//	left-running     nobody ended the process before the end of the test
//
// # Go
//
// Server.Handle answers a method by a function; Send, Request and Crash act at any
// time; Received, Text and Await look at what arrived. Inside a synctest bubble New
// must be called in the bubble too. Eventually, Workspace and Marks are helpers for
// tests with real files and processes.
//
// This package must never know what a client wants: no product word, no internal
// package but the interface of a process (internal/proc).
package lsptest
