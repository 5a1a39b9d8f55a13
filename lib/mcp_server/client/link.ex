defmodule McpServer.Client.Link do
  @moduledoc false
  # The link between a client and its server. It is a process that accepts
  # `{:mcp_client_in, reference, {:lines, [text]}}` and `{:mcp_client_in, reference, :eof}`, and sends its owner:
  #
  #   {:mcp_client, reference, message, receipt}  a message of the server: the next one comes after `taken/1`
  #   {:mcp_client, reference, {:failed, id, error}}  the request with this id gets no answer
  #   {:mcp_client, reference, {:closed, reason}}     nothing more will come
  #
  # A server may send faster than the owner takes. So each stream of a server has one message at the owner, and nothing
  # more is read of it until the owner has taken that one. The owner takes a message before it looks at it, so it may
  # send and wait meanwhile.
  #
  # A link that does not wait, such as one in the same VM, sends instead:
  #
  #   {:mcp_notification, method, params}         a notification
  #   {:mcp_client, reference, message}           an answer, a batch of them, or a request of the server

  alias McpServer.Client.Error

  @typedoc "The location of a server: in this VM, behind a command's stdin and stdout, or at a URL."
  @type target :: {:router, module()} | {:command, String.t()} | {:url, String.t()}

  @typedoc "Who hears that a message was taken, and which one."
  @opaque receipt :: {pid(), reference()}

  @doc "Tells the owner of a message of the server, and waits for nothing."
  @spec deliver(pid(), reference(), term()) :: :ok
  def deliver(owner, _reference, %{"method" => method} = message) when not is_map_key(message, "id") do
    send(owner, {:mcp_notification, method, message["params"] || %{}})
    :ok
  end

  def deliver(owner, reference, message) do
    send(owner, {:mcp_client, reference, message})
    :ok
  end

  @doc "Tells the owner of a message of the server. The calling process gets `{mark, :taken}` when the owner has taken it."
  @spec offer(pid(), reference(), term(), mark :: reference()) :: :ok
  def offer(owner, reference, message, mark) do
    send(owner, {:mcp_client, reference, message, {self(), mark}})
    :ok
  end

  @doc "Tells the owner of a message of the server, and waits until the owner has taken it. Exits if the owner ends."
  @spec hand_over(pid(), reference(), term()) :: :ok
  def hand_over(owner, reference, message) do
    monitor = Process.monitor(owner)
    :ok = offer(owner, reference, message, monitor)

    receive do
      {^monitor, :taken} ->
        Process.demonitor(monitor, [:flush])
        :ok

      {:DOWN, ^monitor, :process, ^owner, _reason} ->
        exit(:shutdown)
    end
  end

  @doc "Tells the link that the owner has taken a message."
  @spec taken(receipt()) :: :ok
  def taken({pid, mark}) do
    send(pid, {mark, :taken})
    :ok
  end

  @doc "Tells the owner that a request gets no answer."
  @spec failed(pid(), reference(), term(), Error.t()) :: :ok
  def failed(owner, reference, id, error) do
    send(owner, {:mcp_client, reference, {:failed, id, error}})
    :ok
  end

  @doc "Tells the owner that nothing more will come."
  @spec closed(pid(), reference(), term()) :: :ok
  def closed(owner, reference, reason) do
    send(owner, {:mcp_client, reference, {:closed, reason}})
    :ok
  end
end
