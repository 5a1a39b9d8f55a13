# Sourced by bin/release: builds the library for a target.

zig_version=0.15.2
zigbuild_version=0.24.0
zig="${XDG_CACHE_HOME:-$HOME/.cache}/mcp_server/zig-$zig_version-zigbuild-$zigbuild_version"

# build TARGET
build() {
  local target=$1
  [[ $target =~ ^(x86_64|aarch64)-(unknown-linux-(gnu|musl)|apple-darwin)$ ]] ||
    fail "libraries are released for linux-gnu, linux-musl and apple-darwin on x86_64 and aarch64, not for $target"
  as_released
  add_target "$target"
  case $target in
    *-linux-gnu)
      install_zig
      PATH="$zig/bin:$PATH" cargo_build zigbuild "$target.$glibc_floor"
      ;;
    # Needs a machine with musl, such as Alpine's Rust image: its linker uses the machine's C library.
    *-linux-musl)
      flags+=(-C target-feature=-crt-static)
      cargo_build build "$target"
      ;;
    *-apple-darwin) MACOSX_DEPLOYMENT_TARGET=11.0 cargo_build build "$target" ;;
  esac
  keep "$target"
}

# Only Cargo.toml configures a release, not this machine's cargo settings. The library contains no paths of this machine.
as_released() {
  local variable line
  for variable in "${!CARGO_PROFILE_@}" "${!CARGO_BUILD_@}" "${!CARGO_TARGET_@}" CARGO_INCREMENTAL RUSTFLAGS; do
    unset "$variable"
  done
  settings=(--config profile.release.opt-level=3 --config profile.release.incremental=false)
  while IFS= read -r line; do settings+=(--config "profile.release.$line"); done < <(release_profile)
  flags=("--remap-path-prefix=$root=mcp_server" "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo")
}

# Prints a line for each setting: lto="fat".
release_profile() { sed -n '/^\[profile.release\]$/,/^$/s/^\([a-z-]*\) = \(.*\)$/\1=\2/p' Cargo.toml; }

add_target() {
  [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ] && return
  command -v rustup >/dev/null 2>&1 || fail "this Rust has no standard library for $1, and no rustup to install it"
  rustup target add "$1"
}

# zig can link against any version of glibc, because it contains their symbols. It is large, so it is in the user's cache.
install_zig() {
  [ -x "$zig/bin/cargo-zigbuild" ] && return
  say "Installing zig $zig_version and cargo-zigbuild $zigbuild_version, once" >&2
  rm -rf "$zig"
  python3 -m venv "$zig"
  "$zig/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
    "ziglang==$zig_version" "cargo-zigbuild==$zigbuild_version"
}

# cargo_build COMMAND TARGET
cargo_build() {
  local joined
  joined=$(printf '%s\x1f' "${flags[@]}")
  CARGO_ENCODED_RUSTFLAGS=${joined%$'\x1f'} cargo "$1" --release --locked -p mcp_nif --target "$2" \
    --target-dir "$releases/target" "${settings[@]}"
}

# The VM expects the same extension on macOS too.
keep() {
  local extension=so
  [[ $1 == *-apple-darwin ]] && extension=dylib
  mkdir -p "$releases/$1"
  cp "$releases/target/$1/release/libmcp_nif.$extension" "$(built "$1")"
  built "$1"
  say ""
}
