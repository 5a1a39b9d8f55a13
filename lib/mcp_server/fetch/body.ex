defmodule McpServer.Fetch.Body do
  @moduledoc false
  # Reads the body of a response piece by piece, and holds at most one read of it. Two framings at once are refused,
  # because they can be an attack on a proxy.

  alias McpServer.Fetch.{Head, Socket}

  @enforce_keys [:socket, :framing]
  defstruct [:socket, :framing]

  @typedoc "`{:chunk, n}`: n bytes of a chunk follow. `:chunk_end`: the line end after a chunk follows."
  @type framing :: {:length, non_neg_integer()} | :until_close | :chunk_size | {:chunk, pos_integer()} | :chunk_end
  @type t :: %__MODULE__{socket: Socket.t(), framing: framing()}

  # The limit of a chunk's size line with its extensions.
  @max_line_bytes 4 * 1024

  @doc "The body that a head announces. Nothing of it is read yet."
  @spec new(Head.t(), Socket.t()) :: {:ok, t()} | {:error, term()}
  def new(%{bodiless?: true}, socket), do: {:ok, %__MODULE__{socket: socket, framing: {:length, 0}}}

  def new(head, socket) do
    case {values(head, "transfer-encoding"), Enum.uniq(values(head, "content-length"))} do
      {[], []} -> {:ok, %__MODULE__{socket: socket, framing: :until_close}}
      {[], [length]} -> with_length(length, socket)
      {[encoding], []} -> with_encoding(String.downcase(encoding), socket)
      _ambiguous -> {:error, :malformed}
    end
  end

  defp values(head, name), do: for({^name, value} <- head.headers, do: value)

  defp with_length(text, socket) do
    if text =~ ~r/\A\d{1,18}\z/,
      do: {:ok, %__MODULE__{socket: socket, framing: {:length, String.to_integer(text)}}},
      else: {:error, :malformed}
  end

  defp with_encoding("chunked", socket), do: {:ok, %__MODULE__{socket: socket, framing: :chunk_size}}
  defp with_encoding(_other, _socket), do: {:error, :malformed}

  @doc "Reads the whole body. A body of more than `max` bytes is an error, and its rest is not read."
  @spec whole(t(), max :: pos_integer()) :: {:ok, binary()} | {:error, term()}
  def whole(%{framing: {:length, length}}, max) when length > max, do: {:error, :body_too_large}
  def whole(body, max), do: whole(body, max, "")

  defp whole(body, left, read) do
    case next(body) do
      {:ok, bytes, _body} when byte_size(bytes) > left -> {:error, :body_too_large}
      # Appended immediately: a list of tiny pieces would take many times their bytes.
      {:ok, bytes, body} -> whole(body, left - byte_size(bytes), read <> bytes)
      {:done, _body} -> {:ok, read}
      {:error, reason} -> {:error, reason}
    end
  end

  @doc "Reads the next bytes."
  @spec next(t()) :: {:ok, binary(), t()} | {:done, t()} | {:error, term()}
  def next(%{framing: {:length, 0}} = body), do: {:done, body}

  def next(%{framing: {:length, left}} = body) do
    with {:ok, bytes, body} <- take(body, left), do: {:ok, bytes, %{body | framing: {:length, left - byte_size(bytes)}}}
  end

  def next(%{framing: :until_close} = body) do
    case take(body, :all) do
      {:error, :closed_early} -> {:done, body}
      outcome -> outcome
    end
  end

  def next(%{framing: :chunk_size} = body) do
    with {:ok, line, body} <- line(body),
         {:ok, size} <- chunk_size(line) do
      # Trailers are ignored, and the connection is closed after the body.
      if size == 0, do: {:done, body}, else: next(%{body | framing: {:chunk, size}})
    end
  end

  def next(%{framing: {:chunk, left}} = body) do
    with {:ok, bytes, body} <- take(body, left) do
      framing = if byte_size(bytes) == left, do: :chunk_end, else: {:chunk, left - byte_size(bytes)}
      {:ok, bytes, %{body | framing: framing}}
    end
  end

  def next(%{framing: :chunk_end} = body) do
    case line(body) do
      {:ok, "", body} -> next(%{body | framing: :chunk_size})
      {:ok, _bytes, _body} -> {:error, :malformed}
      {:error, reason} -> {:error, reason}
    end
  end

  defp chunk_size(line) do
    case Regex.run(~r/\A([0-9a-fA-F]{1,12})[ \t]*(?:;.*)?\z/, line) do
      [_all, size] -> {:ok, String.to_integer(size, 16)}
      nil -> {:error, :malformed}
    end
  end

  # Takes at most `most` bytes from the buffer, or from the next read.
  defp take(%{socket: %{buffer: ""}} = body, most) do
    with {:ok, body} <- read(body), do: take(body, most)
  end

  defp take(%{socket: %{buffer: buffer} = socket} = body, most) when most == :all or byte_size(buffer) <= most,
    do: {:ok, buffer, %{body | socket: %{socket | buffer: ""}}}

  defp take(%{socket: %{buffer: buffer} = socket} = body, most) do
    {bytes, rest} = :erlang.split_binary(buffer, most)
    {:ok, bytes, %{body | socket: %{socket | buffer: rest}}}
  end

  defp line(%{socket: %{buffer: buffer} = socket} = body) do
    case :binary.split(buffer, "\r\n") do
      [line, rest] when byte_size(line) <= @max_line_bytes ->
        {:ok, line, %{body | socket: %{socket | buffer: rest}}}

      [unfinished] when byte_size(unfinished) <= @max_line_bytes ->
        with {:ok, body} <- read(body), do: line(body)

      _too_long ->
        {:error, :malformed}
    end
  end

  defp read(body) do
    case Socket.read(body.socket) do
      {:ok, socket} -> {:ok, %{body | socket: socket}}
      {:error, :closed} -> {:error, :closed_early}
      {:error, reason} -> {:error, reason}
    end
  end
end
