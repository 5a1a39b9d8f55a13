defmodule McpServer.HttpPlug.Drain do
  @moduledoc false
  # Reads the rest of an unwanted body for a while after the answer. A server that closes with unread bytes resets
  # the connection, and many clients then report the reset instead of the answer.

  @compile {:no_warn_undefined, Plug.Conn}

  alias McpServer.HttpPlug.Body

  # Clients that send the whole body before they read get the answer up to this size. Larger bodies end in a reset.
  @most_bytes 32 * 1024 * 1024
  @most_ms 2_000
  @slice 64 * 1024

  @type conn :: map()

  @doc "Reads the rest of an answered request's body, up to a size and a deadline."
  @spec run(conn) :: conn
  # Cowboy drains by itself.
  def run(%{adapter: {Plug.Cowboy.Conn, _request}} = conn), do: conn
  def run(conn), do: if(waits?(conn), do: conn, else: discard(conn, @most_bytes, now() + @most_ms))

  # A client with `expect` waits for "100 Continue" before it sends the body. Reading would send that.
  defp waits?(conn), do: Plug.Conn.get_req_header(conn, "expect") != []

  defp discard(conn, bytes, deadline) do
    left = deadline - now()

    if bytes > 0 and left > 0,
      do: conn |> receive_slice(left) |> go_on(conn, bytes, deadline),
      else: conn
  end

  defp go_on({:more, slice, conn}, _before, bytes, deadline), do: discard(conn, bytes - byte_size(slice), deadline)
  defp go_on({:ok, _slice, conn}, _before, _bytes, _deadline), do: conn
  defp go_on({:error, _reason}, before, _bytes, _deadline), do: before

  # The answer is already sent, so an error here is ignored.
  defp receive_slice(conn, milliseconds) do
    Body.receive_slice(conn, @slice, milliseconds)
  rescue
    _error -> {:error, :closed}
  catch
    :exit, _reason -> {:error, :closed}
  end

  defp now, do: System.monotonic_time(:millisecond)
end
