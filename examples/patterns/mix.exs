defmodule Patterns.MixProject do
  use Mix.Project

  def project do
    [
      app: :patterns,
      version: "1.0.0",
      elixir: "~> 1.14",
      # Built beside the library and in its environment, as in an umbrella, so that it is compiled once.
      build_path: "../../_build",
      deps: [{:mcp_server, path: "../..", env: Mix.env()}]
    ]
  end

  def application, do: [extra_applications: [:logger]]
end
