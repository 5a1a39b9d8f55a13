# Sourced by bin/release: the names of targets and files.

# The oldest glibc that the libraries run with: the version of 2012, which is Rust's minimum too.
glibc_floor=${GLIBC_FLOOR:-2.17}

# The machine that compiles Rust, and the machine that runs Elixir: the same if both are installed.
host_target() { rustc -vV | sed -n 's/^host: //p'; }

this_machine() { elixir -r native/build/target.exs -e 'IO.puts(McpServer.NativeBuild.Target.host())'; }

# The NIF version of rustler's build.
nif_version() { sed -n 's/.*"nif_version_\([0-9]*\)_\([0-9]*\)".*/\1.\2/p' Cargo.toml; }

library_name() { printf 'libmcp_nif-v%s-nif-%s-%s.so' "$(version)" "$(nif_version)" "$1"; }
