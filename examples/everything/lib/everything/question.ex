defmodule Everything.Question do
  @moduledoc "Asks the client or its user, once."
  use McpServer.Controller

  @doc "What a handler answers to ask `requests`; an error when the user has been asked and would not answer."
  def ask(conn, requests, options \\ []) do
    if Enum.any?(requests, fn {key, _request} -> declined?(conn, key) end),
      do: {:error, "The user did not answer"},
      else: input_required(requests, options)
  end

  @doc "The text that the model replied, or `nil`."
  def reply(conn, key), do: get_in(input(conn, key), ["content", "text"])

  @doc "The URIs of the client's roots, or `nil`."
  def root_uris(conn, key) do
    with %{"roots" => roots} <- input(conn, key), do: Enum.map(roots, & &1["uri"])
  end
end
