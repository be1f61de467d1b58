package lsp

import "encoding/json"

// CodeAction is a Command or CodeAction; Raw is the object as sent.
type CodeAction struct {
	Title      string
	Kind       string
	Preferred  bool
	Disabled   string
	HasEdit    bool
	HasCommand bool
	IsCommand  bool
	Raw        json.RawMessage
}

// DecodeActions accepts null and mixed lists. Entries without a title are left out.
func DecodeActions(raw json.RawMessage) ([]CodeAction, error) {
	var all []CodeAction
	err := list(raw, "code actions", func(v []byte) {
		if a := codeAction(v); a.Title != "" {
			all = append(all, a)
		}
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func codeAction(v []byte) CodeAction {
	a := CodeAction{Raw: v}
	members(v, func(key, v []byte) {
		switch string(key) {
		case "title":
			a.Title = str(v)
		case "kind":
			a.Kind = str(v)
		case "isPreferred":
			a.Preferred = isTrue(v)
		case "disabled":
			a.Disabled = disabled(v)
		case "edit":
			a.HasEdit = isObject(v)
		case "command":
			// A Command names its command here; a CodeAction has a Command here.
			a.IsCommand = isString(v)
			a.HasCommand = a.IsCommand || isObject(v)
		}
	})
	return a
}

// disabled is the reason; a server that gives none still means it.
func disabled(v []byte) string {
	if !isObject(v) {
		return str(v)
	}
	if reason := str(member(v, "reason")); reason != "" {
		return reason
	}
	return "no reason given"
}
