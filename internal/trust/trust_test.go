package trust

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dragoman-dev/dragoman/internal/catalog"
	"github.com/dragoman-dev/dragoman/internal/config"
)

func reasons(p Policy, servers ...config.Server) map[string]string {
	admitted, skipped := p.Admit(servers)
	out := map[string]string{}
	for _, s := range admitted {
		out[s.Name] = ""
	}
	for _, s := range skipped {
		out[s.Name] = s.Reason
	}
	return out
}

func TestAdmit(t *testing.T) {
	builtin := config.Server{Name: "gopls", Entry: catalog.ByName("gopls")}
	runs := config.Server{Name: "eslint", Entry: &catalog.Entry{Name: "eslint", RunsWorkspaceCode: catalog.RunsCode}}
	ws := config.Server{Name: "mine", Layer: config.Workspace, Command: "x", TrustRequired: true}
	user := config.Server{Name: "own", Layer: config.User, Command: "x"}
	off := config.Server{Name: "off", Disabled: true}
	broken := config.Server{Name: "broken", Layer: config.User, Invalid: "why"}
	all := []config.Server{builtin, runs, ws, user, off, broken}

	tests := []struct {
		name string
		p    Policy
		want map[string]string
	}{
		{"untrusted", Policy{}, map[string]string{"gopls": "", "eslint": ReasonTrust, "mine": ReasonTrust, "own": "", "off": ReasonDisabled, "broken": ReasonInvalid}},
		{"trusted", Policy{WorkspaceTrusted: true}, map[string]string{"gopls": "", "eslint": "", "mine": "", "own": "", "off": ReasonDisabled, "broken": ReasonInvalid}},
		{"trust required for all", Policy{RequireTrustedWorkspace: true}, map[string]string{"gopls": ReasonTrust, "eslint": ReasonTrust, "mine": ReasonTrust, "own": ReasonTrust, "off": ReasonTrust, "broken": ReasonTrust}},
		{"bounded above", Policy{WorkspaceTrusted: true, AllowedNames: []string{"mine"}}, map[string]string{"gopls": ReasonNotAllowed, "eslint": ReasonNotAllowed, "mine": "", "own": ReasonNotAllowed, "off": ReasonDisabled, "broken": ReasonNotAllowed}},
		{"none allowed", Policy{WorkspaceTrusted: true, AllowedNames: []string{}}, map[string]string{"gopls": ReasonNotAllowed, "eslint": ReasonNotAllowed, "mine": ReasonNotAllowed, "own": ReasonNotAllowed, "off": ReasonDisabled, "broken": ReasonNotAllowed}},
		{"changed since pinned", Policy{WorkspaceTrusted: true, Stale: true}, map[string]string{"gopls": "", "eslint": "", "mine": ReasonStale, "own": "", "off": ReasonDisabled, "broken": ReasonInvalid}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, reasons(tt.p, all...)); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("each reason has a hint of its own", func(t *testing.T) {
		hints := map[string]string{}
		for _, tt := range tests {
			_, skipped := tt.p.Admit(all)
			for _, s := range skipped {
				hints[s.Reason] = s.Hint
			}
		}
		want := map[string]string{
			ReasonTrust: trustHint, ReasonStale: "Run `dragoman trust --pin` again after reading it.",
			ReasonDisabled:   "Remove \"enabled\": false from its entry in your configuration file.",
			ReasonNotAllowed: "Add its name to --allowed-lsp-server-names.",
			ReasonInvalid:    "Correct its entry in your configuration file.",
		}
		if d := cmp.Diff(want, hints); d != "" {
			t.Error(d)
		}
	})
	t.Run("a workspace entry cannot lower its own bar", func(t *testing.T) {
		s := ws
		s.TrustRequired = false
		if got := reasons(Policy{}, s)["mine"]; got != ReasonTrust {
			t.Errorf("reason %q", got)
		}
	})
}

func TestStore(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := NewStore(dir)
	folder := t.TempDir()
	inner := filepath.Join(folder, "sub", "deeper")

	if g := s.Decide(folder, false, nil, ""); g.Trusted {
		t.Fatal("trusted before anybody said so")
	}
	if err := s.Trust(ctx, folder, "abc"); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{folder, inner} {
		if g := NewStore(dir).Decide(f, false, nil, ""); !g.Trusted || g.How != "folder" || g.Pin != "abc" {
			t.Errorf("%s: %+v", f, g)
		}
	}
	if g := s.Decide(filepath.Dir(folder), false, nil, ""); g.Trusted {
		t.Error("trust went up")
	}
	st, err := os.Stat(s.path(folder))
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("file mode %v, %v", st.Mode(), err)
	}
	if err := s.Untrust(ctx, folder); err != nil {
		t.Fatal(err)
	}
	if g := s.Decide(inner, false, nil, ""); g.Trusted {
		t.Error("still trusted")
	}
	if err := s.Untrust(ctx, folder); err != nil {
		t.Errorf("forgetting twice: %v", err)
	}
}

func TestStoreForAnotherFolder(t *testing.T) {
	s := NewStore(t.TempDir())
	a, b := t.TempDir(), t.TempDir()
	if err := s.Trust(context.Background(), a, ""); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(s.path(a))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path(b), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if g := s.Decide(b, false, nil, ""); g.Trusted {
		t.Error("a decision on one folder was believed for another")
	}
}

func TestThisRunAndGlobs(t *testing.T) {
	s := NewStore("")
	if g := s.Decide("/x", true, nil, ""); !g.Trusted || g.How != "for this run" {
		t.Errorf("%+v", g)
	}
	tests := []struct {
		glob, folder string
		want         bool
	}{
		{"/src/*", "/src/a", true}, {"/src/*", "/src/a/b", false}, {"/src/**", "/src/a/b", true},
		{"~/code/**", "/home/me/code/x", true}, {"src/*", "/src/a", false}, {"/src/[", "/src/[", false},
	}
	for _, tt := range tests {
		if got := s.Decide(tt.folder, false, []string{tt.glob}, "/home/me").Trusted; got != tt.want {
			t.Errorf("%s on %s: %v", tt.glob, tt.folder, got)
		}
	}
	if err := s.Trust(context.Background(), "/x", ""); err == nil {
		t.Error("trust without a folder to remember it in must fail")
	}
	if err := NewStore(t.TempDir()).Trust(context.Background(), "/", ""); err == nil {
		t.Error("the root of the file system was trusted")
	}
}
