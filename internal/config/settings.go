package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// settingKeys are the settings of the user's file that are read here. Others are
// known but belong to other faces.
var settingKeys = map[string]func(s *Settings, v json.RawMessage) error{
	"lsp.enabled": func(s *Settings, v json.RawMessage) error { return flag(v, &s.Enabled) },
	"columns": func(s *Settings, v json.RawMessage) error {
		return oneOf(v, &s.Columns, "codepoints", "utf16", "bytes")
	},
	"outOfWorkspaceReads": func(s *Settings, v json.RawMessage) error {
		return oneOf(v, &s.OutOfWorkspaceReads, "dependencies", "off", "any")
	},
	"uncPaths": func(s *Settings, v json.RawMessage) error { return oneOf(v, &s.UNCPaths, "refuse", "allow") },
	"trustedFolders": func(s *Settings, v json.RawMessage) error {
		return strs(v, &s.TrustedFolders)
	},
	"requireTrustedWorkspace": func(s *Settings, v json.RawMessage) error {
		return flag(v, &s.RequireTrustedWorkspace)
	},
	"callLimit": func(s *Settings, v json.RawMessage) error { return duration(v, &s.CallLimit) },
	"maxFileSize": func(s *Settings, v json.RawMessage) error {
		var n *int
		if err := bytesCount(v, &n); err != nil {
			return err
		}
		s.MaxFileSize = int64(*n)
		return nil
	},
}

// otherSettings are known names that this slice does not act on.
var otherSettings = []string{"maxAnswerChars", "import", "prewarm", "serverMemory", "backend", "tools", "lspStyle", "allowEdits"}

func flag(v json.RawMessage, dst *bool) error {
	if json.Unmarshal(v, dst) != nil {
		return errBool
	}
	return nil
}

func oneOf(v json.RawMessage, dst *string, allowed ...string) error {
	var s string
	if json.Unmarshal(v, &s) == nil {
		for _, a := range allowed {
			if s == a {
				*dst = s
				return nil
			}
		}
	}
	return fmt.Errorf("must be one of %s", strings.Join(allowed, ", "))
}

func bytesCount(v json.RawMessage, dst **int) error {
	var n int
	if json.Unmarshal(v, &n) != nil || n <= 0 {
		return fmt.Errorf("must be a number of bytes above 0")
	}
	*dst = &n
	return nil
}

// readSettings reads the key "settings": names with dots, or nested ("lsp":
// {"enabled": …}).
func (c *Config) readSettings(f *file) {
	if f.top == nil {
		return
	}
	for _, m := range members(f.top) {
		if m.key != "settings" {
			continue
		}
		if m.obj == nil {
			f.complain(m.keyAt, "settings must be an object")
			continue
		}
		c.readGroup(f, "", members(m.obj))
	}
}

func (c *Config) readGroup(f *file, prefix string, ms []member) {
	for _, m := range ms {
		name := prefix + m.key
		if set, ok := settingKeys[name]; ok {
			if err := set(&c.Settings, m.value); err != nil {
				f.complain(m.keyAt, "setting %s %v", name, err)
			}
			continue
		}
		if m.obj != nil && prefix == "" && m.key == "lsp" {
			c.readGroup(f, "lsp.", members(m.obj))
			continue
		}
		known := append(sortedKeys(settingKeys), otherSettings...)
		if !contains(otherSettings, name) {
			f.complain(m.keyAt, "unknown setting %q%s", name, nearest(name, known))
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
