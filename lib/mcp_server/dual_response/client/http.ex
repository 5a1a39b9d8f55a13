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
    with {:ok, %{body: body} = response} <- open(request, tls) do
      if request.stream, do: {:ok, %{response | body: stream(body)}}, else: whole(response, request.max_body_bytes)
    end
  end

  @doc "Sends a request and reads the head of its response. Whoever reads the body closes its socket."
  @spec open(Client.request(), tls :: keyword()) ::
          {:ok, %{status: 200..599, headers: [{String.t(), String.t()}], body: Body.t()}} | {:error, term()}
  def open(request, tls) do
    uri = URI.parse(request.url)

    with {:ok, socket} <- Socket.connect(uri, request, tls),
         {:error, reason} <- exchange(socket, uri, request) do
      Socket.close(socket)
      {:error, reason}
    end
  end

  defp exchange(socket, uri, request) do
    with {:ok, socket} <- Socket.write(socket, Head.request(uri, request)),
         {:ok, head, socket} <- Head.read(socket),
         {:ok, body} <- Body.new(head, socket) do
      {:ok, %{status: head.status, headers: head.headers, body: body}}
    end
  end

  defp whole(%{body: body} = response, max) do
    read = Body.whole(body, max)
    Socket.close(body.socket)
    with {:ok, bytes} <- read, do: {:ok, %{response | body: bytes}}
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
