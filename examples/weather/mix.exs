Code.require_file("view/compile.exs", __DIR__)

defmodule Weather.MixProject do
  use Mix.Project

  def project do
    [
      app: :weather,
      version: "1.0.0",
      elixir: "~> 1.14",
      compilers: [:weather_view] ++ Mix.compilers(),
      # Built beside the library and in its environment, as in an umbrella, so that it is compiled once.
      build_path: "../../_build",
      deps: [{:mcp_server, path: "../..", env: Mix.env()}]
    ]
  end

  def application, do: [extra_applications: [:logger]]
end
