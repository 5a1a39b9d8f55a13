# Sourced by bin/release: the names of targets and files.

# The oldest C library of GNU that the libraries run with: that of 2012, which Rust itself wants.
glibc_floor=${GLIBC_FLOOR:-2.17}

# The machine that compiles Rust, and the one that runs Elixir: the same, where both are installed.
host_target() { rustc -vV | sed -n 's/^host: //p'; }

this_machine() { elixir -r native/build/target.exs -e 'IO.puts(McpServer.NativeBuild.Target.host())'; }

# The version of the NIF interface that rustler is built for.
nif_version() { sed -n 's/.*"nif_version_\([0-9]*\)_\([0-9]*\)".*/\1.\2/p' Cargo.toml; }

library_name() { printf 'libmcp_nif-v%s-nif-%s-%s.so' "$(version)" "$(nif_version)" "$1"; }
