defmodule Bookshop.MixProject do
  use Mix.Project

  def project do
    [
      app: :bookshop,
      version: "1.0.0",
      elixir: "~> 1.14",
      elixirc_paths: elixirc_paths(Mix.env()),
      start_permanent: Mix.env() == :prod,
      # From Elixir 1.18 on, Phoenix hears of what is compiled beside it, such as by `mix test` or an editor.
      listeners: [Phoenix.CodeReloader],
      aliases: aliases(),
      deps: deps()
    ]
  end

  def application, do: [extra_applications: extra_applications(Mix.env()), mod: {Bookshop.Application, []}]

  # The tests have the HTTP client of OTP.
  defp extra_applications(:test), do: [:inets | extra_applications(:prod)]
  defp extra_applications(_env), do: [:logger]

  defp elixirc_paths(:test), do: ["lib", "test/support"]
  defp elixirc_paths(_env), do: ["lib"]

  defp aliases do
    [
      "ecto.setup": ["ecto.create", "ecto.migrate", "run priv/repo/seeds.exs"],
      test: ["ecto.create --quiet", "ecto.migrate --quiet", "test"]
    ]
  end

  defp deps do
    [
      {:phoenix, "~> 1.7"},
      {:phoenix_html, "~> 4.0"},
      {:phoenix_ecto, "~> 4.5"},
      {:ecto_sql, "~> 3.13"},
      {:postgrex, "~> 0.20"},
      {:plug, "~> 1.15"},
      {:bandit, "~> 1.12 and >= 1.12.5"},
      {:jason, "~> 1.4"},
      {:mcp_server, path: "../.."}
    ]
  end
end
