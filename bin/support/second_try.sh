# Sourced by bin/test. A test that fails is run once more alone. If it then passes, the suite passes, and the summary and
# _build/suites/flaky.log name it: such a test is a defect. With SECOND_TRY=no nothing is run again.

# The flaky tests of this run.
second_tries="$root/_build/suites/second_tries.log"

flaky() { printf '%s\n' "$1" >>"$second_tries"; }

# In a function whose status is tested, `set -e` has no effect, so each step is joined to the next.
may_try_again() { [ "${SECOND_TRY:-yes}" = yes ]; }

# mix_test ARGUMENT…: `mix test` with a second try of the failed tests.
mix_test() {
  local output status=0 failed
  output=$(mktemp)
  mix test "$@" 2>&1 | tee "$output" || status=$?
  failed=$(failed_elixir_tests "$output")
  rm "$output"
  [ "$status" -ne 0 ] || return 0
  may_try_again && [ -n "$failed" ] || return "$status"
  say "" && say "A second try of: ${failed//$'\n'/, }"
  mix test --failed --seed 0 "$@" || return
  while read -r test; do flaky "$test"; done <<<"$failed"
}

# Each failed test as FILE:LINE. ExUnit prints that in the line after the name.
failed_elixir_tests() {
  grep -A 1 -E "$failed_elixir_test" "$1" | sed -nE 's/^ +([^ ]+\.exs?:[0-9]+)$/\1/p' | sort -u
}

# cargo_test ARGUMENT…: `cargo test` with a second try of the failed tests.
cargo_test() {
  local output status=0 failed
  output=$(mktemp)
  cargo test "$@" 2>&1 | tee "$output" || status=$?
  mapfile -t failed < <(sed -nE 's/^test ([^ ]+)( - should panic)? \.\.\. FAILED$/\1/p' "$output" | sort -u)
  places=$(sed -nE 's/^thread .* panicked at ([^ ]+:[0-9]+):[0-9]+:$/\1/p' "$output" | sort -u)
  rm "$output"
  [ "$status" -ne 0 ] || return 0
  may_try_again && [ ${#failed[@]} -gt 0 ] || return "$status"
  say "" && say "A second try of: ${failed[*]}"
  cargo test "$@" -- --exact "${failed[@]}" || return
  flaky "${failed[*]} (${places//$'\n'/, })"
}

# tried_twice NAME COMMAND…: a suite of an official client or suite, which has no single tests to run again.
tried_twice() {
  local name=$1 status=0
  shift
  "$@" || status=$?
  [ "$status" -ne 0 ] && [ "$status" -ne 77 ] && may_try_again || return "$status"
  say "" && say "A second try of the whole suite:"
  "$@" || return
  flaky "suite $name"
}

report_second_tries() {
  [ -s "$second_tries" ] || return 0
  local test
  say ""
  while read -r test; do
    say "passed at the second try: $test"
    say "$(date +%F) $(git rev-parse --short HEAD 2>/dev/null || true) $test" >>"$root/_build/suites/flaky.log"
  done <"$second_tries"
}
