defmodule McpServer.HttpPlug.Answer do
  @moduledoc false
  # Writes a response to a `Plug.Conn`.

  @compile {:no_warn_undefined, Plug.Conn}

  alias McpServer.HttpPlug.{Body, Drain}

  @type conn :: map()

  @doc "Opens a chunked response, and sends its first chunk."
  @spec open(conn, pos_integer(), [{String.t(), String.t()}], iodata()) :: {:ok | :closed, conn}
  def open(conn, status, headers, first),
    do: conn |> put_headers(headers) |> Plug.Conn.send_chunked(status) |> chunk(first)

  @doc "Sends a complete answer. If much of the request's body is unread, reads the rest and closes the connection."
  @spec send_whole(conn, pos_integer(), [{String.t(), String.t()}], iodata()) :: conn
  def send_whole(conn, status, headers, body) do
    conn = put_headers(conn, headers)

    if Body.abandoned?(conn) and http_1?(Plug.Conn.get_http_protocol(conn)),
      do: conn |> close() |> Plug.Conn.send_resp(status, body) |> Drain.run(),
      else: Plug.Conn.send_resp(conn, status, body)
  end

  # Some servers end the stream at an empty chunk.
  @doc "Sends a chunk of an open response."
  @spec chunk(conn, iodata()) :: {:ok | :closed, conn}
  def chunk(conn, bytes) do
    with true <- IO.iodata_length(bytes) > 0,
         {:error, _reason} <- Plug.Conn.chunk(conn, bytes) do
      {:closed, conn}
    else
      false -> {:ok, conn}
      {:ok, conn} -> {:ok, conn}
    end
  end

  # Cowboy completes the body of a killed request process. So the process of the connection is killed, which is another
  # one.
  @doc "Cuts an open response off."
  @spec cut(conn) :: no_return()
  def cut(%{adapter: {Plug.Cowboy.Conn, %{pid: pid, version: :"HTTP/1.1"}}}), do: kill(pid)
  def cut(_conn), do: kill(self())

  defp kill(pid) do
    Process.exit(pid, :kill)
    # This process ends with it.
    Process.sleep(:infinity)
  end

  defp put_headers(conn, headers), do: Plug.Conn.merge_resp_headers(conn, headers)

  # Otherwise the server would read the whole body to find the next request. HTTP/2 has no such header.
  defp close(conn), do: Plug.Conn.put_resp_header(conn, "connection", "close")

  defp http_1?(protocol), do: protocol in [:"HTTP/1", :"HTTP/1.0", :"HTTP/1.1"]
end
