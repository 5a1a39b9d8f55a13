# Sourced by commands that need the example server over HTTP.

# start_everything PORT [COMMAND…]: starts the server, with the command and the port if a command is given. It sets
# `everything_url`, and ends the server with the shell. It fails if the server ends before it is ready, or is not ready
# within ten minutes: it may compile the native library first. The output of the server goes to stderr.
start_everything() {
  local port=$1 log tries
  shift
  [ $# -gt 0 ] || set -- bin/everything --port
  log=$(mktemp)
  "$@" "$port" 2> >(tee "$log" >&2) >&2 &
  everything_pid=$!
  trap stop_everything EXIT
  for ((tries = 0; tries < 6000; tries++)); do
    everything_url=$(sed -n 's/^Listening on \(http:.*\)$/\1/p' "$log")
    [ -z "$everything_url" ] && kill -0 "$everything_pid" 2>/dev/null || break
    sleep 0.1
  done
  rm "$log"
  [ -n "$everything_url" ] || fail "the example server did not start"
}

# The command fails if its server does not end normally.
stop_everything() {
  kill -TERM "$everything_pid" 2>/dev/null || true
  wait "$everything_pid" || fail "the example server ended with status $?"
}
