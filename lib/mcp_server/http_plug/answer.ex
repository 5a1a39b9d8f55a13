defmodule McpServer.HttpPlug.Answer do
  @moduledoc false
  # Writes a response to a `Plug.Conn`.

  @compile {:no_warn_undefined, Plug.Conn}

  alias McpServer.HttpPlug.{Body, Drain}

  @type conn :: map()

  @doc "Opens a response that is sent in pieces, the first at once."
  @spec open(conn, pos_integer(), [{String.t(), String.t()}], iodata()) :: {:ok | :closed, conn}
  def open(conn, status, headers, first),
    do: conn |> put_headers(headers) |> Plug.Conn.send_chunked(status) |> chunk(first)

  @doc "Sends a finished answer. What is left of a long body is read behind it, and the connection closed."
  @spec send_whole(conn, pos_integer(), [{String.t(), String.t()}], iodata()) :: conn
  def send_whole(conn, status, headers, body) do
    conn = put_headers(conn, headers)

    if Body.abandoned?(conn) and http_1?(Plug.Conn.get_http_protocol(conn)),
      do: conn |> close() |> Plug.Conn.send_resp(status, body) |> Drain.run(),
      else: Plug.Conn.send_resp(conn, status, body)
  end

  # To some servers an empty chunk is the end of the stream.
  @doc "Sends a piece of an open response."
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

  # Cowboy ends the body of a process that was killed as if it were whole; the process of the connection is another one.
  @doc "Breaks an open response off."
  @spec cut(conn) :: no_return()
  def cut(%{adapter: {Plug.Cowboy.Conn, %{pid: pid, version: :"HTTP/1.1"}}}), do: kill(pid)
  def cut(_conn), do: kill(self())

  defp kill(pid) do
    Process.exit(pid, :kill)
    # This process ends with it.
    Process.sleep(:infinity)
  end

  defp put_headers(conn, headers), do: Plug.Conn.merge_resp_headers(conn, headers)

  # The server would read on otherwise, to find the next request behind the body. HTTP/2 has no such header.
  defp close(conn), do: Plug.Conn.put_resp_header(conn, "connection", "close")

  defp http_1?(protocol), do: protocol in [:"HTTP/1", :"HTTP/1.0", :"HTTP/1.1"]
end
