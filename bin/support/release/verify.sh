# Sourced by bin/release: checks the users' downloads.

# verify FOLDER CHECKSUMS
verify() {
  local archive count=0
  for archive in "$1"/*.tar.gz; do
    [ -f "$archive" ] || fail "there is no archive in $1: run bin/release pack first"
    verify_archive "$archive" "$2"
    count=$((count + 1))
  done
  say "$count verified"
}

verify_archive() {
  local name target
  name=$(basename "$1" .tar.gz)
  target=$(target_of "$name")
  verify_checksum "$1" "$2"
  [ "$(tar -tPzf "$1")" = "$name" ] || fail "$name.tar.gz must hold the one file $name"
  make_stage
  tar -xzOf "$1" "$name" >"$stage/$name"
  case $target in
    *-linux-*) verify_elf "$stage/$name" "$target" ;;
    *-apple-darwin) verify_mach_o "$stage/$name" "$target" ;;
  esac
  verify_loads "$stage/$name" "$target"
  say "$target: $wants; $loads"
}

# The target is the middle part of an archive's name.
target_of() {
  local before after target
  before=$(library_name "")
  after=.so
  before=${before%"$after"}
  target=${1#"$before"}
  [ "$target" != "$1" ] || fail "$1 is no library of this version: its name must begin with $before"
  printf '%s' "${target%"$after"}"
}

verify_checksum() {
  [ -f "$2" ] || return 0
  local line
  line="$(basename "$1") sha256:$(sha256 "$1")"
  grep -qxF "$line" "$2" || fail "$(basename "$1") is not the file whose checksum is in $2"
}

sha256() { if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1; }

verify_elf() {
  local machine symbols
  case $2 in
    x86_64-*) machine="Advanced Micro Devices X86-64" ;;
    aarch64-*) machine="AArch64" ;;
    *) fail "libraries are released for x86_64 and aarch64, not for $2" ;;
  esac
  [[ $(readelf -h "$1" 2>/dev/null) == *"Machine: "*"$machine"* ]] || fail "the library for $2 is for another machine"
  symbols=$(readelf -W --dyn-syms "$1")
  grep -qE ' (GLOBAL|WEAK) .* nif_init$' <<<"$symbols" || fail "the library for $2 does not export nif_init"
  verify_glibc "$1" "$2" "$symbols"
}

verify_glibc() {
  local highest
  highest=$(grep -oE 'GLIBC_[0-9.]+' <<<"$3" | sort -Vu | tail -n 1)
  case $2 in
    *-musl)
      [ -z "$highest" ] || fail "the library for $2 wants $highest"
      wants="musl"
      ;;
    *)
      [ -n "$highest" ] || fail "the library for $2 wants no version of glibc"
      [ "$(printf '%s\n' "${highest#GLIBC_}" "$glibc_floor" | sort -V | tail -n 1)" = "$glibc_floor" ] ||
        fail "the library for $2 wants $highest, and may want GLIBC_$glibc_floor at most"
      wants="wants $highest"
      ;;
  esac
}

# The first bytes of a macOS library: the 64-bit format, and the machine.
verify_mach_o() {
  local machine
  case $2 in
    x86_64-*) machine=07000001 ;;
    aarch64-*) machine=0c000001 ;;
    *) fail "libraries are released for x86_64 and aarch64, not for $2" ;;
  esac
  [ "$(od -An -tx1 -N8 "$1" | tr -d ' \n')" = "cffaedfe$machine" ] || fail "the library for $2 is for another machine"
  wants="macOS"
}

# If the library can run here, it is loaded and must answer.
verify_loads() {
  loads="not loaded: this machine is another"
  [ "$2" = "$(this_machine)" ] || return 0
  local app
  app=$(dirname "$1")/mcp_server
  mix compile >&2
  mkdir -p "$app/priv/native"
  ln -s "$root/_build/${MIX_ENV:-dev}/lib/mcp_server/ebin" "$app/ebin"
  cp "$1" "$app/priv/native/mcp_nif.so"
  elixir -pa "$app/ebin" -e '{:ok, [1]} = McpServer.JSON.decode("[1]")' >&2 || fail "the library for $2 does not load here"
  loads="loads"
}
