package text

import (
	"path"
	"runtime"
	"strings"
)

// style is a family of path rules. Both are compiled everywhere, so that both are
// tested everywhere.
type style uint8

const (
	posix style = iota
	windows
)

func hostStyle() style {
	if runtime.GOOS == "windows" {
		return windows
	}
	return posix
}

// PathToURI makes a file URI of an absolute path, percent-encoding as VS Code does,
// where servers compare strings: everything but letters, digits, - . _ ~ and /;
// drive letters lower case.
func PathToURI(path string) string { return pathToURI(path, hostStyle()) }

func pathToURI(p string, s style) string {
	if s == windows || hasDrive(p) || strings.HasPrefix(p, `\\`) {
		// No absolute path of a POSIX system begins like these.
		p = strings.ReplaceAll(p, `\`, "/")
		s = windows
	}
	host := ""
	if strings.HasPrefix(p, "//") {
		host, p, _ = strings.Cut(p[2:], "/")
		p = "/" + p
	}
	if s == windows && hasDrive(p) {
		p = "/" + strings.ToLower(p[:1]) + p[1:]
	}
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	var b strings.Builder
	b.Grow(len("file:///") + len(host) + len(p) + 16)
	b.WriteString("file://")
	writeEscaped(&b, host)
	writeEscaped(&b, p)
	return b.String()
}

// hasDrive reports a path that begins with a drive, as in "C:\" and "C:/".
func hasDrive(p string) bool {
	return len(p) >= 2 && isLetter(p[0]) && p[1] == ':' && (len(p) == 2 || p[2] == '/' || p[2] == '\\')
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// plain are the bytes that are not escaped in a path.
func plain(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '/' || c == '-' || c == '.' || c == '_' || c == '~'
}

func writeEscaped(b *strings.Builder, s string) {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		if c := s[i]; plain(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
}

// unescape decodes each %XX once; what is no escape stays as it is, and so does +.
func unescape(s string) string {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s
	}
	b := make([]byte, i, len(s))
	copy(b, s)
	for ; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, lo := unhex(s[i+1]), unhex(s[i+2])
			if hi >= 0 && lo >= 0 {
				b = append(b, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

func unhex(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// splitFile takes a file URI apart; rest is decoded and begins with a slash unless
// the URI is relative. A raw # or ? belongs to the path: documents have neither
// fragment nor query, and some servers send names as they are.
func splitFile(uri string) (host, rest string, ok bool) {
	const scheme = "file:"
	if len(uri) < len(scheme) || !strings.EqualFold(uri[:len(scheme)], scheme) {
		return "", "", false
	}
	rest = uri[len(scheme):]
	if after, found := strings.CutPrefix(rest, "//"); found {
		i := strings.IndexByte(after, '/')
		if i < 0 {
			i = len(after)
		}
		host, rest = unescape(after[:i]), after[i:]
	}
	if strings.EqualFold(host, "localhost") {
		host = ""
	}
	return host, unescape(rest), true
}

// URIToPath is the path of a file URI in any spelling (upper or lower case drive,
// encoded colon, encoded or raw characters, localhost authority); false for other
// schemes and for URIs that name another host. The path is clean; on Windows it has
// backslashes and an upper-case drive.
func URIToPath(uri string) (string, bool) { return uriToPath(uri, hostStyle()) }

func uriToPath(uri string, s style) (string, bool) {
	host, p, ok := splitFile(uri)
	if !ok || strings.IndexByte(p, 0) >= 0 {
		return "", false
	}
	if s == windows {
		return windowsPath(host, p)
	}
	if host != "" || !strings.HasPrefix(p, "/") {
		return "", false
	}
	return path.Clean(p), true
}

func windowsPath(host, p string) (string, bool) {
	if len(host) == 2 && hasDrive(host) {
		host, p = "", "/"+host+p // file://C:/x, a slash short
	}
	p = strings.ReplaceAll(p, `\`, "/")
	if host != "" || strings.HasPrefix(p, "//") {
		return "", false
	}
	p = strings.TrimPrefix(path.Clean(p), "/")
	if !hasDrive(p) {
		return "", false
	}
	if len(p) == 2 {
		p += "/"
	}
	return strings.ToUpper(p[:1]) + strings.ReplaceAll(p[1:], "/", `\`), true
}

// CanonicalURI brings spellings of one file URI to one form; other URIs are returned unchanged.
func CanonicalURI(uri string) string { return canonicalURI(uri, hostStyle()) }

func canonicalURI(uri string, s style) string {
	if s == posix && isCanonical(uri) {
		return uri
	}
	p, ok := uriToPath(uri, s)
	if !ok {
		return uri
	}
	return pathToURI(p, s)
}

// isCanonical recognises most URIs that are canonical already without building one.
func isCanonical(uri string) bool {
	p, ok := strings.CutPrefix(uri, "file://")
	if !ok || len(p) < 2 || p[0] != '/' || p[len(p)-1] == '/' {
		return false
	}
	for i := range len(p) {
		if !plain(p[i]) || i > 0 && p[i-1] == '/' && (p[i] == '/' || p[i] == '.') {
			return false
		}
	}
	return true
}

// IsUNC reports a path that begins with \\ or //, or a file URI with a host.
func IsUNC(path string) bool {
	if host, rest, ok := splitFile(path); ok {
		return host != "" && !hasDrive(host) || twoSlashes(rest)
	}
	return twoSlashes(path)
}

func twoSlashes(p string) bool {
	return len(p) >= 2 && isSlash(p[0]) && isSlash(p[1])
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }
