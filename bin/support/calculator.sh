# Sourced by commands that start the server of the README in a new project for the official Python client.

# calculator_project FOLDER LIBRARY: writes the project with the README's code. It depends on the library in the folder
# LIBRARY, and on an application whose compilation prints a warning.
calculator_project() {
  local project=$1 library=$2
  mkdir -p "$project/lib" "$project/warns/lib"
  # The block whose first line names the file.
  awk '/^```elixir$/ { block = ""; inside = 1; next }
       /^```$/ && inside { if (block ~ /^# lib\/calculator.ex\n/) { printf "%s", block; exit } inside = 0 }
       inside { block = block $0 "\n" }' "$root/README.md" >"$project/lib/calculator.ex"
  grep -q '^defmodule Calculator.MCP do$' "$project/lib/calculator.ex" || fail "README.md has no lib/calculator.ex"
  calculator_mix_exs calculator "{:mcp_server, path: \"$library\"}, {:warns, path: \"warns\"}" >"$project/mix.exs"
  calculator_mix_exs warns "" >"$project/warns/mix.exs"
  calculator_warns "$project" 0
}

calculator_mix_exs() {
  cat <<END
defmodule ${1^}.MixProject do
  use Mix.Project
  def project, do: [app: :$1, version: "0.1.0", elixir: "~> 1.14", deps: [$2]]
  def application, do: [extra_applications: [:logger]]
end
END
}

# calculator_warns FOLDER NUMBER: with a new number, the next start compiles the application with the warning.
calculator_warns() {
  printf 'defmodule Warns do\n  def number(unused), do: %s\nend\n' "$2" >"$1/warns/lib/warns.ex"
}

# calculator_startup FOLDER COMMAND…: COMMAND… runs a line of shell in the project. `mix compile` stores the warnings;
# since Elixir 1.15 each later start prints them again. The last start compiles.
calculator_startup() {
  local project=$1
  shift
  "$@" "mix compile" &&
    calculator_client legacy "$@" "exec mix mcp.stdio Calculator.MCP" &&
    calculator_client modern "$@" "exec mix mcp.stdio Calculator.MCP" &&
    calculator_warns "$project" 1 &&
    calculator_client modern "$@" "exec mix mcp.stdio Calculator.MCP"
}

# calculator_client ERA COMMAND…: the official Python client starts the command, and calls the server's tool.
calculator_client() { "$python" "$root/conformance/clients/calculator.py" "$@"; }
