defmodule McpServer.Fixtures do
  @moduledoc false
  # The JSON values of the documents. See `test/fixtures/README.md`.

  import ExUnit.Assertions

  alias McpServer.JSON

  @directory Path.expand("../fixtures/documents", __DIR__)

  @doc "Asserts that a term is encoded as the JSON value of a fixture, except for key order and white space."
  def assert_encodes(term, name) do
    assert term |> JSON.encode!() |> JSON.decode!() == JSON.decode!(read(name))
  end

  @doc "The text of a fixture."
  def read(name), do: File.read!(Path.join(@directory, name))
end
