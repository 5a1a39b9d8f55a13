defmodule McpServer.DualResponse.Client.HTTP do
  @moduledoc false
  # The fetch function that the client uses if it is given none: one request on a connection of its own, over OTP's
  # sockets and TLS. OTP's own client, `:httpc`, was measured first: it reads headers for as long as a server sends
  # them (80 MB of them made 2 GB of terms), and nothing bounds a body while it arrives.

  alias McpServer.DualResponse.Client
  alias McpServer.DualResponse.Client.Failure
  alias McpServer.DualResponse.Client.HTTP.{Body, Head, Socket}

  @doc "Sends a request and reads its response. A streamed body is read as it is enumerated, and raises what goes wrong."
  @spec fetch(Client.request(), tls :: keyword()) :: {:ok, Client.response()} | {:error, term()}
  def fetch(request, tls) do
    uri = URI.parse(request.url)

    with {:ok, socket} <- Socket.connect(uri, request, tls) do
      case exchange(socket, uri, request) do
        {:ok, %{body: %Body{} = body} = response} ->
          {:ok, %{response | body: stream(body)}}

        outcome ->
          Socket.close(socket)
          outcome
      end
    end
  end

  defp exchange(socket, uri, request) do
    with {:ok, socket} <- Socket.write(socket, Head.request(uri, request)),
         {:ok, head, socket} <- Head.read(socket),
         {:ok, body} <- Body.new(head, socket),
         {:ok, body} <- take(body, request) do
      {:ok, %{status: head.status, headers: head.headers, body: body}}
    end
  end

  defp take(body, %{stream: true}), do: {:ok, body}
  defp take(body, %{max_body_bytes: max}), do: Body.whole(body, max)

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
