defmodule McpServer.Fixtures do
  @moduledoc false
  # The JSON values of the documents. They lie beside the project and are no part of it; where they
  # are missing, a test that compares with one says so and checks nothing.

  import ExUnit.Assertions

  @directory Path.expand("../../../shared/fixtures", __DIR__)

  @doc "Asserts that a term is written as the JSON value of a fixture, key order and white space aside."
  def assert_encodes(term, name) do
    encoded = McpServer.JSON.encode!(term)

    with {:ok, fixture} <- read(name) do
      assert McpServer.JSON.decode(encoded) == McpServer.JSON.decode(fixture)
    end
  end

  @doc "The text of a fixture, or `:missing`."
  def read(name) do
    case File.read(Path.join(@directory, name)) do
      {:ok, text} ->
        {:ok, text}

      {:error, reason} ->
        IO.puts(:stderr, "skipped: the fixture #{name} cannot be read (#{:file.format_error(reason)})")
        :missing
    end
  end
end
