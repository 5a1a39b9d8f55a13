defmodule McpServer.DualResponse.Client.HTTP do
  @moduledoc false
  # The client's default fetch function.

  alias McpServer.DualResponse.Client
  alias McpServer.DualResponse.Client.Failure
  alias McpServer.Fetch
  alias McpServer.Fetch.{Body, Socket}

  @doc "Sends a request and reads its response. A streamed body is read lazily, and raises on errors."
  @spec fetch(Client.request(), tls :: keyword()) :: {:ok, Client.response()} | {:error, term()}
  def fetch(request, tls) do
    with {:ok, %{body: %Body{} = body} = response} <- Fetch.fetch(request, tls),
         do: {:ok, %{response | body: stream(body)}}
  end

  defp stream(body) do
    Stream.resource(
      fn -> body end,
      fn body ->
        case Body.next(body) do
          {:ok, bytes, body} -> {[bytes], body}
          {:done, body} -> {:halt, body}
          {:error, reason} -> raise Failure.error(reason)
        end
      end,
      fn body -> Socket.close(body.socket) end
    )
  end
end
