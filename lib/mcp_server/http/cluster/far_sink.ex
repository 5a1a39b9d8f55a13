defmodule McpServer.Http.Cluster.FarSink do
  @moduledoc false
  # The sink of a request that another node received. The response goes to the process on that node that holds the
  # request.

  @behaviour McpServer.Http.Sink

  alias McpServer.{Auth, Conn}
  alias McpServer.Http.{Exchange, Sink}

  @enforce_keys [:exchange, :head, :body, :known]
  defstruct [:exchange, :head, :body, :known, :account, :socket, cors_headers: []]

  @typedoc """
  `:known` holds the receiving node's findings: the principal, the token's grants and the initial conn of a handler.
  The receiving node adds the `:cors_headers`.
  """
  @type t :: %__MODULE__{
          exchange: Exchange.t(),
          head: map(),
          body: binary(),
          known: %{principal: term(), auth: Auth.t() | nil, base: Conn.t()},
          account: nil,
          socket: nil,
          cors_headers: [{String.t(), String.t()}]
        }

  @impl Sink
  def head(sink), do: sink.head

  @impl Sink
  def read_body(sink, _max), do: {:ok, sink.body, sink}

  @impl Sink
  def forget(sink), do: %{sink | body: ""}

  @impl Sink
  def release(sink), do: sink

  @impl Sink
  def reply(sink, status, headers, body) do
    Exchange.reply(sink.exchange, status, headers, body)
    sink
  end

  @impl Sink
  def stream(sink, status, headers, first), do: {Exchange.stream(sink.exchange, status, headers, first), sink}

  @impl Sink
  def chunk(sink, bytes), do: {Exchange.chunk(sink.exchange, bytes), sink}

  @impl Sink
  def keep_alive(sink, comment), do: chunk(sink, comment)

  @impl Sink
  def finish(sink) do
    Exchange.finish(sink.exchange)
    sink
  end

  @impl Sink
  def cut(sink) do
    Exchange.abort(sink.exchange)
    sink
  end
end
