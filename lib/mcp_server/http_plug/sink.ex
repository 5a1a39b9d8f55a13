defmodule McpServer.HttpPlug.Sink do
  @moduledoc false
  # The sink of a plug's request: the web server's process holds it, and the response goes to a `Plug.Conn`.

  @behaviour McpServer.Http.Sink
  @compile {:no_warn_undefined, Plug.Conn}

  require Logger

  alias McpServer.Http.Usage
  alias McpServer.HttpPlug.{Answer, Body, Head}

  @enforce_keys [:conn, :account]
  defstruct [:conn, :account, :socket, body_bytes: 0, routed?: false, cors_headers: []]

  @typedoc """
  `:socket` is `nil`: the web server owns the socket. `:body_bytes` is the length of the request's body.
  With `:routed?` the target excludes the path segments that earlier plugs have routed.
  """
  @type t :: %__MODULE__{
          conn: map(),
          account: Usage.t(),
          socket: nil,
          body_bytes: non_neg_integer(),
          routed?: boolean(),
          cors_headers: [{String.t(), String.t()}]
        }

  # The longest body that may stay in memory while the process waits for an answer.
  @held_bytes 256 * 1024

  @doc "The sink of a request to the mount."
  @spec new(conn :: map(), %{:usage => Usage.t(), optional(atom()) => term()}) :: t()
  def new(conn, %{usage: usage}), do: %__MODULE__{conn: conn, account: Usage.own(usage)}

  @doc "The sink of a request whose target is the remaining path."
  @spec routed(conn :: map(), %{:usage => Usage.t(), optional(atom()) => term()}) :: t()
  def routed(conn, mount), do: %{new(conn, mount) | routed?: true}

  @impl true
  def head(%{conn: conn, routed?: false}), do: conn |> Head.of() |> Map.put(:plug, conn)
  def head(%{conn: conn}), do: conn |> Head.of() |> Map.merge(%{plug: conn, target: Head.left(conn)})

  @impl true
  def read_body(%{conn: conn} = sink, max) do
    if Body.parsed?(conn), do: report_parsed(sink)

    case Body.read(conn, max) do
      {:ok, body, conn} ->
        {:ok, body, %{sink | conn: conn, body_bytes: byte_size(body)}}

      {:error, reason, conn} ->
        if reason == :consumed, do: report_consumed(sink)
        {:error, reason, %{sink | conn: conn}}
    end
  end

  defp report_consumed(sink) do
    once(sink, :consumed, fn ->
      Logger.error(
        "The body of an MCP request was gone when it came to McpServer.HttpPlug: something before it has read it. " <>
          "If that is Plug.Parsers, give it body_reader: {McpServer.HttpPlug.BodyReader, :read_body, []}; " <>
          "if it is a plug of your own, mount McpServer.HttpPlug before it. Logged once."
      )
    end)
  end

  # The usual cause is a path that `body_reader:` does not list.
  defp report_parsed(%{conn: conn} = sink) do
    once(sink, :parsed, fn ->
      path = "/" <> Enum.join(if(conn.script_name == [], do: conn.path_info, else: conn.script_name), "/")

      Logger.warning(
        "Plug.Parsers or another plug has parsed the body of a request below #{inspect(path)} before the library could read it: with " <>
          "its own limits, and before the client was identified. List the path in the options of Plug.Parsers: " <>
          "body_reader: {McpServer.HttpPlug.BodyReader, :read_body, [[#{inspect(path)}]]}. Logged once."
      )
    end)
  end

  # The same plug affects every request to the mount.
  defp once(%{account: %{totals: mount}}, what, log) do
    unless :persistent_term.get({__MODULE__, what, mount}, false) do
      :persistent_term.put({__MODULE__, what, mount}, true)
      log.()
    end
  end

  # The next garbage collection frees a small body. A large body would stay for as long as the call runs.
  @impl true
  def forget(%{body_bytes: bytes} = sink) do
    if bytes > @held_bytes, do: :erlang.garbage_collect()
    sink
  end

  # The web server limits the bodies under a plug.
  @impl true
  def release(sink), do: sink

  @impl true
  def reply(%{conn: conn} = sink, status, headers, body),
    do: %{sink | conn: Answer.send_whole(conn, status, headers ++ sink.cors_headers, body)}

  @impl true
  def stream(%{conn: conn} = sink, status, headers, first),
    do: put(sink, Answer.open(conn, status, headers ++ sink.cors_headers, first))

  @impl true
  def chunk(%{conn: conn} = sink, bytes), do: put(sink, Answer.chunk(conn, bytes))

  @impl true
  def keep_alive(sink, comment), do: chunk(sink, comment)

  defp put(sink, {written, conn}), do: {written, %{sink | conn: conn}}

  @impl true
  def finish(sink), do: sink

  @impl true
  def cut(%{conn: conn}), do: Answer.cut(conn)
end
