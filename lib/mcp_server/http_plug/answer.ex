defmodule McpServer.HttpPlug.Answer do
  @moduledoc false
  # Carries the commands of an exchange's owner out on a `Plug.Conn`.

  @compile {:no_warn_undefined, Plug.Conn}

  alias McpServer.Http.Relay
  alias McpServer.HttpPlug.{Body, Drain}
  alias McpServer.Protocol.HTTP

  @type conn :: map()

  @doc "Executes one command: the sink of `McpServer.Http.Relay.run/3`."
  @spec execute(Relay.command(), conn) :: {:ok, conn} | {:closed, conn}
  def execute({:reply, status, headers, body}, conn), do: {:ok, send_whole(conn, status, headers, body)}

  def execute({:stream, status, headers, first}, conn) do
    chunk(first, conn |> put_headers(headers) |> Plug.Conn.send_chunked(status))
  end

  def execute({:chunk, bytes}, conn), do: chunk(bytes, conn)
  def execute(:finish, conn), do: {:ok, conn}

  def execute({:fail, _reason}, %{state: :chunked} = conn), do: {:ok, conn}

  def execute({:fail, _reason}, conn) do
    {status, headers, body} = HTTP.answer(:internal_error, nil)
    {:ok, send_whole(conn, status, headers, body)}
  end

  @doc "Sends a finished answer. What is left of a long body is read behind it, and the connection closed."
  @spec send_whole(conn, pos_integer(), [{String.t(), String.t()}], iodata()) :: conn
  def send_whole(conn, status, headers, body) do
    conn = put_headers(conn, headers)

    if Body.abandoned?(conn) and http_1?(Plug.Conn.get_http_protocol(conn)),
      do: conn |> close() |> Plug.Conn.send_resp(status, body) |> Drain.run(),
      else: Plug.Conn.send_resp(conn, status, body)
  end

  # To some servers an empty chunk is the end of the stream.
  defp chunk(bytes, conn) do
    with true <- IO.iodata_length(bytes) > 0,
         {:error, _reason} <- Plug.Conn.chunk(conn, bytes) do
      {:closed, conn}
    else
      false -> {:ok, conn}
      {:ok, conn} -> {:ok, conn}
    end
  end

  defp put_headers(conn, headers), do: Plug.Conn.merge_resp_headers(conn, headers)

  # The server would read on otherwise, to find the next request behind the body. HTTP/2 has no such header.
  defp close(conn), do: Plug.Conn.put_resp_header(conn, "connection", "close")

  defp http_1?(protocol), do: protocol in [:"HTTP/1", :"HTTP/1.0", :"HTTP/1.1"]
end
