// Package trust decides which configured servers may run, before anything is
// looked up or started, and remembers which folders the user trusts. What is
// remembered lies outside every workspace.
//
// It starts nothing and reads no server configuration itself.
package trust

import (
	"github.com/dragoman-dev/dragoman/internal/catalog"
	"github.com/dragoman-dev/dragoman/internal/config"
	"github.com/dragoman-dev/dragoman/query"
)

// Reasons for which a server is skipped.
const (
	ReasonTrust      = "server_trust_required"
	ReasonNotAllowed = "not_allowed"
	ReasonDisabled   = "disabled"
	ReasonStale      = "trust_stale"
	ReasonInvalid    = "invalid"
)

// Policy is everything that admission depends on.
type Policy struct {
	WorkspaceTrusted        bool
	RequireTrustedWorkspace bool
	// AllowedNames bounds the servers of a session from above; nil allows all.
	AllowedNames []string
	// Stale: the workspace's file has changed since its hash was trusted, so the
	// entries it touches wait.
	Stale bool
}

// Admit divides servers into those that may run and those that may not, and why.
// It is pure.
func (p Policy) Admit(servers []config.Server) (admitted []config.Server, skipped []query.SkippedServer) {
	for _, s := range servers {
		if reason, detail, hint := p.refuse(&s); reason != "" {
			skipped = append(skipped, query.SkippedServer{Name: s.Name, Reason: reason, Detail: detail, Hint: hint})
			continue
		}
		admitted = append(admitted, s)
	}
	return admitted, skipped
}

const trustHint = "Run `dragoman trust` in the workspace, or use --trust for this run."

func (p Policy) refuse(s *config.Server) (reason, detail, hint string) {
	trusted := p.WorkspaceTrusted
	switch {
	case p.RequireTrustedWorkspace && !trusted:
		return ReasonTrust, "the setting requireTrustedWorkspace is on and the workspace is not trusted", trustHint
	case s.Disabled:
		return ReasonDisabled, "switched off by the " + s.Layer.String() + " configuration",
			"Remove \"enabled\": false from its entry in " + file(s.Layer) + "."
	case !p.allowed(s):
		return ReasonNotAllowed, "not among the allowed server names",
			"Add its name to --allowed-lsp-server-names."
	case p.Stale && s.Layer == config.Workspace:
		return ReasonStale, ".lsp.json has changed since it was trusted", "Run `dragoman trust --pin` again after reading it."
	case !trusted && (s.TrustRequired || s.Layer == config.Workspace):
		return ReasonTrust, "the workspace is not trusted", trustHint
	case !trusted && s.Entry != nil && s.Entry.RunsWorkspaceCode == catalog.RunsCode:
		return ReasonTrust, "it runs code of the workspace, which is not trusted", trustHint
	case s.Invalid != "":
		return ReasonInvalid, s.Invalid, "Correct its entry in " + file(s.Layer) + "."
	}
	return "", "", ""
}

// file is where a layer's entries stand, for people.
func file(l config.Layer) string {
	if l == config.Workspace {
		return ".lsp.json"
	}
	return "your configuration file"
}

func (p Policy) allowed(s *config.Server) bool {
	if p.AllowedNames == nil {
		return true
	}
	for _, name := range p.AllowedNames {
		if name == s.Name || s.Entry != nil && catalog.ByName(name) == s.Entry {
			return true
		}
	}
	return false
}
