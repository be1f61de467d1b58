package intel

import "strings"

// keywords are the reserved words of a language, which are no identifiers. Words
// that are reserved only in places (type, match, async) are left out.
var keywords = map[string]map[string]bool{
	"go": words(`break case chan const continue default defer else fallthrough for func go goto if
		import interface map package range return select struct switch type var`),
	"python": words(`False None True and as assert async await break class continue def del elif else
		except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield`),
	"javascript": words(`break case catch class const continue debugger default delete do else enum export
		extends false finally for function if import in instanceof new null return switch throw true try typeof
		var void while with`),
	"c": words(`auto break case const continue default do double else enum extern float for goto if int long
		register return short signed sizeof static struct switch typedef union unsigned void volatile while
		bool catch class delete explicit export false friend inline mutable namespace new nullptr operator private
		protected public template throw true try typename using virtual`),
	"rust": words(`as async await break const continue crate dyn else enum extern false fn for if impl in let
		loop match mod move mut pub ref return static struct trait true type unsafe use where while`),
}

// family maps language ids to the row of keywords.
var family = map[string]string{
	"typescript": "javascript", "typescriptreact": "javascript", "javascriptreact": "javascript",
	"cpp": "c", "objective-c": "c", "objective-cpp": "c", "cuda-cpp": "c",
}

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// isKeyword reports a reserved word of the language.
func isKeyword(languageID, word string) bool {
	if f, ok := family[languageID]; ok {
		languageID = f
	}
	return keywords[languageID][word]
}
