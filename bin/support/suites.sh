# Sourced by bin/test: the suites, in the order in which they run. A new suite is a line in `all_suites`.
#
# suite GROUP PARTS NAME COMMAND…
#
# Groups: test is what people run, more is what a submission runs too, long is for nights and releases. PARTS are the
# words of bin/setup that the suite needs.

all_suites() {
  suite test "" "rust format" rust_format
  suite test "" "elixir format" elixir_format
  suite test node "elixir compile" elixir_compile
  suite test "" "rust tests" cargo_test --locked
  suite test "" "elixir tests" mix_test
  suite test "" "readme" mix run --no-start bin/support/readme.exs
  for era in legacy modern; do client_suite test python "python $era" over_stdio python "$era"; done
  for era in legacy modern; do client_suite test python "python http $era" conformance/run python "$era"; done
  for name in legacy 2025-11-25 2026-07-28; do
    client_suite test node "conformance $name" conformance/run suite "$name"
  done

  suite more "stores python" "slow elixir tests" mix_test --only slow --only needs
  suite more "" "rust lints" cargo clippy --workspace --all-targets --locked -- -D warnings
  suite more "" "rust documentation" rust_documentation
  suite more "" "rust dependencies" rust_dependencies
  suite more "" "rust licences" rust_licences
  suite more types "dialyzer" bin/support/dialyzer
  suite more node "examples lint" each_example mix mcp.lint
  suite more "" "notes example" example_tests notes
  suite more "" "patterns example" example_tests patterns
  suite more python "institutions" examples/institutions/check
  suite more python "demo" bin/demo --once
  suite more python "start-up" bin/support/startup
  suite more "" "corpora" bin/corpora
  suite more python "tokens" conformance/tokens/run 800
  suite more "" "stress" bin/stress --short
  for era in legacy modern; do client_suite more node "typescript $era" over_stdio typescript "$era"; done
  for client in typescript rmcp inspector tasks; do
    for era in legacy modern; do client_suite more node "$client http $era" conformance/run "$client" "$era"; done
  done
  for client in python typescript; do
    for era in legacy modern; do
      client_suite more "python node" "$client bridge $era" conformance/bridge "$client" "$era"
    done
  done
  client_suite more python "installed server" conformance/install
  client_suite more "python node" "bundle" conformance/bundle
  suite more node "conformance judge" "$node" --test conformance/suites/judge.test.mjs
  for name in legacy 2025-11-25 2026-07-28; do
    client_suite more node "protected $name" conformance/auth/protected "$name"
  done
  client_suite more "python browser" "authorization" conformance/auth/run
  client_suite more browser "weather app" conformance/apps/run
  client_suite more browser "browser" conformance/browser/run
  client_suite more browser "playground" conformance/playground/run
  client_suite more python "release library" release_library

  # Compilation takes half of the time; with less optimisation three seconds find as much.
  suite long fuzz "short fuzz" env CARGO_PROFILE_RELEASE_OPT_LEVEL=1 fuzz/run -j 2 3
  suite long "" "rust advisories" rust_advisories
  client_suite long "python node" "clients over deploys" conformance/survival/run
  suite long matrix "docs" bin/docs
  for version in 1.18 1.20; do
    suite long "matrix python node stores" "matrix $version" bin/matrix "$version"
  done
}

client_suite() { suite "$1" "$2" "$3" tried_twice "${@:3}"; }

rust_format() {
  cargo fmt --all --check &&
    cargo fmt --manifest-path fuzz/Cargo.toml --check &&
    cargo fmt --manifest-path conformance/clients/rmcp/Cargo.toml --check
}

rust_documentation() {
  RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
}

# The library must not fetch over the network, and the core must not use sockets or the BEAM.
rust_dependencies() {
  needs_none_of 'reqwest|rustls|native-tls|openssl|ureq|hyper|tokio' --workspace &&
    retrieves_nothing &&
    needs_none_of 'rustler' --package mcp_core --package mcp_lint
}

needs_none_of() {
  local tree
  tree=$(cargo tree "${@:2}" --edges normal,build --prefix none --locked) || return 1
  ! grep -E "^($1) " <<<"$tree"
}

# Any crate of the workspace or its dependencies could enable the feature that fetches schemas.
retrieves_nothing() {
  local tree
  tree=$(cargo tree --workspace --edges features --prefix none --locked) || return 1
  grep -qE '^jsonschema v' <<<"$tree" &&
    ! grep -E '^jsonschema feature "(default|resolve-.*|tls-.*)"|^referencing feature "retrieve-.*"' <<<"$tree"
}

rust_licences() { has_cargo_deny && cargo deny --locked check bans licenses sources; }

# It needs the database of advisories on GitHub. Without access to it the suite is skipped.
rust_advisories() {
  has_cargo_deny || return
  git ls-remote --quiet https://github.com/RustSec/advisory-db.git HEAD ||
    { say "the database of advisories at github.com cannot be reached"; return 77; }
  cargo deny --locked check advisories
}

# Its build from source takes minutes, so no suite starts it.
has_cargo_deny() {
  command -v cargo-deny >/dev/null 2>&1 || { say "cargo-deny is not installed: bin/setup deny builds it"; return 77; }
}

elixir_format() {
  mix format --check-formatted &&
    mix format --check-formatted bin/support/*.exs bin/support/*/*.exs conformance/apps/*.exs conformance/tokens/*.exs &&
    each_example mix format --check-formatted
}

elixir_compile() {
  mix compile --warnings-as-errors &&
    each_example mix compile --warnings-as-errors
}

# The examples that need only this library.
each_example() {
  local example
  for example in everything institutions notes patterns weather; do
    (cd "examples/$example" && "$@") || return 1
  done
}

# In the environment that has a built library already.
example_tests() {
  (cd "examples/$1" && MIX_ENV=dev mix test)
}

# Over stdio; conformance/run covers HTTP.
over_stdio() {
  case $1 in
    python) "$python" conformance/clients/python_client.py "$2" bin/everything --stdio ;;
    typescript) "$node" conformance/clients/typescript_client.mjs "$2" bin/everything --stdio ;;
  esac
}

# The library as users build it, with an official client.
release_library() {
  MCP_SERVER_PROFILE=release MIX_ENV=prod conformance/run python modern
}
