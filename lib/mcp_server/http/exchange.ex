defmodule McpServer.Http.Exchange do
  @moduledoc false
  # One HTTP request that waits for its response: a finished answer, or a stream of events. Two servers
  # carry them out: the native listener, and the process of a plug (`McpServer.Http.Relay`).
  #
  # Whoever owns an exchange is told `{:mcp_exchange, ref, {:sent, bytes}}` when bytes of a stream have
  # reached the socket, and `{:mcp_exchange, ref, :closed}` when the peer is gone or takes no more.

  @enforce_keys [:module, :ref]
  defstruct [:module, :ref, :pid, :monitor]

  @typedoc "`:pid` is the process that carries the exchange out, where there is one, and `:monitor` its owner's."
  @type t :: %__MODULE__{module: module(), ref: reference(), pid: pid() | nil, monitor: reference() | nil}
  @type headers :: [{String.t(), String.t()}]

  @callback own(t()) :: {:ok, t()} | :closed
  @callback give(t(), pid()) :: :ok | :closed | :gone
  @callback reply(t(), status :: pos_integer(), headers(), iodata()) :: :ok | :closed
  @callback stream(t(), status :: pos_integer(), headers(), iodata()) :: :ok | :closed
  @callback chunk(t(), iodata()) :: :ok | :closed
  @callback finish(t()) :: :ok
  @callback abort(t()) :: :ok

  @doc "From now on the calling process is told what becomes of the exchange, and answers it."
  @spec own(t()) :: {:ok, t()} | :closed
  def own(%__MODULE__{module: module} = exchange), do: module.own(exchange)

  @doc """
  From now on `pid` is who answers, though it does not know it yet. Whatever ends it, the peer gets an answer.
  `:gone` when it is no more.
  """
  @spec give(t(), pid()) :: :ok | :closed | :gone
  def give(%__MODULE__{module: module} = exchange, pid), do: module.give(exchange, pid)

  @doc "The whole response at once."
  @spec reply(t(), pos_integer(), headers(), iodata()) :: :ok | :closed
  def reply(%__MODULE__{module: module} = exchange, status, headers, body),
    do: module.reply(exchange, status, headers, body)

  @doc "Opens a stream, its first bytes in the same write as its head."
  @spec stream(t(), pos_integer(), headers(), iodata()) :: :ok | :closed
  def stream(%__MODULE__{module: module} = exchange, status, headers, first),
    do: module.stream(exchange, status, headers, first)

  @doc "More bytes of a stream. Never blocks: what is not sent yet is queued, and counted by the owner."
  @spec chunk(t(), iodata()) :: :ok | :closed
  def chunk(%__MODULE__{module: module} = exchange, bytes), do: module.chunk(exchange, bytes)

  @doc "Ends a stream once everything is sent."
  @spec finish(t()) :: :ok
  def finish(%__MODULE__{module: module} = exchange), do: module.finish(exchange)

  @doc "Cuts the connection: the peer takes nothing, or must not get the rest."
  @spec abort(t()) :: :ok
  def abort(%__MODULE__{module: module} = exchange), do: module.abort(exchange)
end
