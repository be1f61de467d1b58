package lsp

import (
	"bytes"
	"encoding/json"
)

// clientCapabilities is what this client honours, no more: servers act on each word
// of it. UTF-16 comes first because it is the best-tested path of every server.
const clientCapabilities = `{
  "general": {
    "positionEncodings": ["utf-16", "utf-8", "utf-32"],
    "staleRequestSupport": {
      "cancel": true,
      "retryOnContentModified": [
        "textDocument/definition", "textDocument/references", "textDocument/hover",
        "textDocument/documentSymbol", "textDocument/implementation",
        "textDocument/prepareCallHierarchy", "callHierarchy/incomingCalls",
        "callHierarchy/outgoingCalls", "textDocument/diagnostic",
        "textDocument/codeAction", "workspace/symbol"
      ]
    }
  },
  "offsetEncoding": ["utf-16", "utf-8", "utf-32"],
  "workspace": {
    "applyEdit": false,
    "workspaceEdit": {"documentChanges": true},
    "configuration": true,
    "workspaceFolders": true,
    "didChangeConfiguration": {"dynamicRegistration": true},
    "didChangeWatchedFiles": {"dynamicRegistration": true, "relativePatternSupport": true},
    "symbol": {
      "dynamicRegistration": true,
      "symbolKind": {"valueSet": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26]},
      "resolveSupport": {"properties": ["location.range"]}
    },
    "diagnostics": {"refreshSupport": true}
  },
  "window": {
    "workDoneProgress": true,
    "showMessage": {"messageActionItem": {"additionalPropertiesSupport": false}},
    "showDocument": {"support": false}
  },
  "textDocument": {
    "synchronization": {"dynamicRegistration": true, "willSave": false, "willSaveWaitUntil": false, "didSave": true},
    "publishDiagnostics": {
      "relatedInformation": true,
      "versionSupport": true,
      "codeDescriptionSupport": true,
      "dataSupport": true,
      "tagSupport": {"valueSet": [1, 2]}
    },
    "diagnostic": {"dynamicRegistration": true, "relatedDocumentSupport": true},
    "definition": {"dynamicRegistration": true, "linkSupport": true},
    "implementation": {"dynamicRegistration": true, "linkSupport": true},
    "references": {"dynamicRegistration": true},
    "hover": {"dynamicRegistration": true, "contentFormat": ["markdown", "plaintext"]},
    "documentSymbol": {
      "dynamicRegistration": true,
      "hierarchicalDocumentSymbolSupport": true,
      "symbolKind": {"valueSet": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26]}
    },
    "callHierarchy": {"dynamicRegistration": true},
    "codeAction": {
      "dynamicRegistration": true,
      "isPreferredSupport": true,
      "disabledSupport": true,
      "dataSupport": true,
      "resolveSupport": {"properties": ["edit"]},
      "codeActionLiteralSupport": {
        "codeActionKind": {
          "valueSet": [
            "", "quickfix", "refactor", "refactor.extract", "refactor.inline",
            "refactor.rewrite", "source", "source.organizeImports", "source.fixAll"
          ]
        }
      }
    }
  },
  "experimental": {"serverStatusNotification": true}
}`

// ClientCapabilities is the capabilities object of initialize, with extra merged
// into it: objects member by member, anything else replaces, and null removes
// (RFC 7396). An extra that is no object is ignored.
func ClientCapabilities(extra json.RawMessage) json.RawMessage {
	var own bytes.Buffer
	if err := json.Compact(&own, []byte(clientCapabilities)); err != nil {
		return json.RawMessage("{}")
	}
	var base, patch map[string]any
	if json.Unmarshal(extra, &patch) != nil || len(patch) == 0 || json.Unmarshal(own.Bytes(), &base) != nil {
		return own.Bytes()
	}
	mergeInto(base, patch)
	merged, err := json.Marshal(base)
	if err != nil {
		return own.Bytes()
	}
	return merged
}

func mergeInto(base, patch map[string]any) {
	for key, v := range patch {
		inner, isObject := v.(map[string]any)
		switch {
		case v == nil:
			delete(base, key)
		case isObject:
			below, ok := base[key].(map[string]any)
			if !ok {
				below = map[string]any{}
			}
			mergeInto(below, inner)
			base[key] = below
		default:
			base[key] = v
		}
	}
}
