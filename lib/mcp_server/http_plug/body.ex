defmodule McpServer.HttpPlug.Body do
  @moduledoc false
  # The body of a request: read from the server, or encoded as JSON again from the result of `Plug.Parsers`.

  @compile {:no_warn_undefined, Plug.Conn}

  alias McpServer.JSON

  # The state of the body in `conn.private`: `:unread`, `:partial` (not read to its end) or `:read`.
  @state :mcp_server_body

  # After a start period a body must arrive at 1 KiB per second or more.
  @slice 16 * 1024
  @slice_ms 15_000
  @start_ms 10_000

  # The server may read this much of a body after the answer. For more the connection is closed.
  @drained_bytes 64 * 1024

  @type conn :: map()
  @type failure :: :too_large | :timeout | :closed | :consumed | :malformed

  @doc "Marks the body as unread, so that `conn.body_params` is ignored."
  @spec leave_unread(conn) :: conn
  def leave_unread(conn), do: put_state(conn, :unread)

  @doc """
  Reads the whole body, of at most `max` bytes.

  `:consumed` means that an earlier plug read the body and did not leave its content.
  """
  @spec read(conn, pos_integer()) :: {:ok, binary(), conn} | {:error, failure(), conn}
  def read(%{private: %{@state => :unread}} = conn, max), do: receive_all(conn, max)
  def read(%{body_params: %{__struct__: _unfetched}} = conn, max), do: receive_all(conn, max)
  def read(%{body_params: parsed} = conn, max) when map_size(parsed) == 0, do: read_empty(conn, max)

  def read(%{body_params: parsed} = conn, max),
    do: if(form?(conn), do: {:error, :malformed, conn}, else: write_again(conn, parsed, max))

  # curl sends bodies with the content type of a form by default, so a parsed form may have been any text.
  defp form?(conn) do
    type = conn |> Plug.Conn.get_req_header("content-type") |> List.first("") |> String.downcase()
    String.starts_with?(type, ["application/x-www-form-urlencoded", "multipart/form-data"])
  end

  @doc "Whether an earlier plug has parsed the body, so that it is encoded again."
  @spec parsed?(conn) :: boolean()
  def parsed?(%{private: %{@state => :unread}}), do: false
  def parsed?(%{body_params: %{__struct__: _unfetched}}), do: false
  def parsed?(%{body_params: parsed}), do: map_size(parsed) > 0

  @doc "Whether too much of the body is unread to keep the connection after the answer."
  @spec abandoned?(conn) :: boolean()
  def abandoned?(%{private: %{@state => :read}}), do: false
  def abandoned?(%{private: %{@state => :partial}}), do: true
  def abandoned?(%{private: %{@state => :unread}} = conn), do: long?(declared(conn))
  def abandoned?(%{body_params: %{__struct__: _unfetched}} = conn), do: long?(declared(conn))
  def abandoned?(_parsed), do: false

  defp long?(length), do: length == :unknown or length > @drained_bytes

  defp receive_all(conn, max), do: receive_slices(conn, %{max: max, began: now(), bytes: 0, slices: []})

  defp receive_slices(conn, progress) do
    case receive_slice(conn, @slice, @slice_ms) do
      {:ok, slice, conn} -> conn |> put_state(:read) |> complete(add(progress, slice))
      {:more, slice, conn} -> go_on(conn, add(progress, slice))
      {:error, reason} -> fail(conn, reason)
    end
  end

  defp add(progress, slice),
    do: %{progress | bytes: progress.bytes + byte_size(slice), slices: [progress.slices, slice]}

  defp complete(conn, %{bytes: bytes, max: max}) when bytes > max, do: {:error, :too_large, conn}
  defp complete(conn, progress), do: {:ok, IO.iodata_to_binary(progress.slices), conn}

  defp go_on(conn, %{bytes: bytes, max: max}) when bytes > max, do: fail(conn, :too_large)

  defp go_on(conn, progress) do
    if now() - progress.began > @start_ms + div(progress.bytes * 1000, 1024),
      do: fail(conn, :timeout),
      else: receive_slices(conn, progress)
  end

  defp fail(conn, reason), do: {:error, reason, put_state(conn, :partial)}

  @doc """
  Reads the next bytes of the body within a time in milliseconds, at most `slice` bytes if the server limits them.
  """
  @spec receive_slice(conn, pos_integer(), pos_integer()) ::
          {:ok, binary(), conn} | {:more, binary(), conn} | {:error, :timeout | :closed}
  def receive_slice(%{adapter: {adapter, _state}} = conn, slice, milliseconds) do
    options = [length: most(adapter, slice), read_length: slice, read_timeout: milliseconds]

    with {:error, reason} <- Plug.Conn.read_body(conn, options),
         do: {:error, if(reason == :timeout, do: :timeout, else: :closed)}
  rescue
    # Bandit raises on a timeout, although the adapter behaviour has an error for it.
    error -> if timeout?(error), do: {:error, :timeout}, else: reraise(error, __STACKTRACE__)
  end

  # Cowboy's adapter returns after *more* bytes than this, however slowly they arrive.
  defp most(Plug.Cowboy.Conn, _slice), do: 0
  defp most(_adapter, slice), do: slice

  defp timeout?(error), do: Map.get(error, :plug_status) in [:request_timeout, 408]

  # The parsers leave an empty map for `{}`, for no body, and for a body that other code has read.
  defp read_empty(conn, max) do
    case {receive_all(conn, max), declared(conn)} do
      {{:ok, "", conn}, length} when length in [0, 1] -> {:ok, "", conn}
      {{:ok, "", conn}, 2} -> {:ok, "{}", conn}
      {{:ok, "", conn}, _length} -> {:error, :consumed, conn}
      {read_or_failed, _length} -> read_or_failed
    end
  end

  defp write_again(conn, parsed, max) do
    case JSON.encode(document(parsed)) do
      {:ok, text} when byte_size(text) > max -> {:error, :too_large, conn}
      {:ok, text} -> {:ok, text, conn}
      # A text with this depth would be refused too, like invalid JSON.
      {:error, %{kind: :too_deep}} -> {:ok, "", conn}
      {:error, _not_json} -> {:error, :consumed, conn}
    end
  end

  # `Plug.Parsers` puts documents other than objects under `"_json"`.
  defp document(%{"_json" => document} = parsed) when map_size(parsed) == 1, do: document
  defp document(parsed), do: parsed

  # The declared length of the body. A chunked body declares none, and HTTP/2 may omit it.
  defp declared(conn) do
    with [text] <- Plug.Conn.get_req_header(conn, "content-length"),
         {length, ""} <- Integer.parse(text) do
      length
    else
      _none -> if chunked?(conn), do: :unknown, else: 0
    end
  end

  defp chunked?(conn), do: Plug.Conn.get_req_header(conn, "transfer-encoding") != []

  defp put_state(conn, state), do: Plug.Conn.put_private(conn, @state, state)
  defp now, do: System.monotonic_time(:millisecond)
end
