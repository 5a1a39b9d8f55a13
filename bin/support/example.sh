# Sourced by the commands that start an example: `example FOLDER ROUTER --stdio`, or `example FOLDER ROUTER --port PORT`.
# With --port it prints its URL to stderr when it is ready (port 0 selects a free port), and stops at Ctrl-C.

example() {
  local folder=$1 router=$2
  shift 2
  case "$*" in
    --stdio) prepare "$folder" && exec mix mcp.stdio "$router" ;;
    "--port "[0-9]*) prepare "$folder" && serve "$router" "$2" ;;
    *) fail "usage: $(basename "$0") --stdio | --port PORT" ;;
  esac
}

# mix finds the library's tasks only after compilation. Its output goes to stderr: stdout may belong to the client.
prepare() {
  cd "$root/examples/$1"
  [ -d "$root/_build/${MIX_ENV:-dev}/lib/$1/ebin" ] || mix compile >&2 </dev/null
}

# Ctrl-C reaches the shell and the VM, which would show its menu. So the VM ignores it, and the shell stops the VM.
serve() {
  local server status=0
  export ELIXIR_ERL_OPTIONS="${ELIXIR_ERL_OPTIONS:-} +Bi"
  mix mcp.http "$1" --port "$2" </dev/null &
  server=$!
  trap 'kill -TERM "$server" 2>/dev/null' INT TERM
  # A signal ends the first wait; the end of the server ends a later wait.
  while kill -0 "$server" 2>/dev/null; do
    status=0
    wait "$server" || status=$?
  done
  return "$status"
}
