// Package query holds the words in which questions about code are asked and
// answered: requests, answers, errors, and the Backend that every door
// (command line, MCP server, library) talks to.
//
// Positions are 1-based; columns count Unicode code points unless an option
// says otherwise. Paths in answers are relative to the workspace, absolute
// outside it, and raw for URIs that are not files.
//
// It imports nothing else of this module and knows nothing about language
// servers or how answers are printed.
package query
