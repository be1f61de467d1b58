package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Hash identifies what a running server was started from: SHA-256 over canonical
// JSON (keys sorted, absent fields left out, no HTML escaping) of the fields whose
// change needs a restart.
func Hash(s *Server) string {
	m := map[string]any{"name": s.Name, "transport": s.Transport, "trustRequired": s.TrustRequired}
	put := func(key string, v any, present bool) {
		if present {
			m[key] = v
		}
	}
	put("languages", s.Languages, s.Languages != nil)
	put("command", s.Command, s.Command != "")
	put("args", s.Args, s.Args != nil)
	put("env", s.Env, len(s.Env) > 0)
	put("initializationOptions", plain(s.InitializationOptions), len(s.InitializationOptions) > 0)
	put("settings", plain(s.Settings), len(s.Settings) > 0)
	put("extensionToLanguage", s.ExtensionToLanguage, len(s.ExtensionToLanguage) > 0)
	put("workspaceFolder", s.WorkspaceFolder, s.WorkspaceFolder != "")
	put("rootUri", s.RootURI, s.RootURI != "")
	put("startupTimeout", s.StartupTimeout.Milliseconds(), s.StartupTimeout > 0)
	put("shutdownTimeout", s.ShutdownTimeout.Milliseconds(), s.ShutdownTimeout > 0)
	put("restartOnCrash", s.RestartOnCrash, s.RestartOnCrash != nil)
	put("maxRestarts", s.MaxRestarts, s.MaxRestarts != nil)
	put("socket", s.Socket, s.Socket != nil)

	var buf bytes.Buffer
	enc := json.NewEncoder(&buf) // maps are written with sorted keys
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return ""
	}
	sum := sha256.Sum256(bytes.TrimSuffix(buf.Bytes(), []byte("\n")))
	return hex.EncodeToString(sum[:])
}

// plain decodes raw JSON so that its keys get sorted; numbers keep their spelling.
func plain(raw json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return string(raw)
	}
	return v
}
