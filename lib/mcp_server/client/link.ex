defmodule McpServer.Client.Link do
  @moduledoc false
  # The link between a client and its server. It is a process that accepts
  # `{:mcp_client_in, reference, {:lines, [text]}}` and `{:mcp_client_in, reference, :eof}`, and sends its owner:
  #
  #   {:mcp_notification, method, params}         a notification
  #   {:mcp_client, reference, message}           an answer, a batch of them, or a request of the server
  #   {:mcp_client, reference, {:failed, id, error}}  the request with this id gets no answer
  #   {:mcp_client, reference, {:closed, reason}}     nothing more will come

  alias McpServer.Client.Error

  @typedoc "The location of a server: in this VM, behind a command's stdin and stdout, or at a URL."
  @type target :: {:router, module()} | {:command, String.t()} | {:url, String.t()}

  @doc "Tells the owner of a message of the server."
  @spec deliver(pid(), reference(), term()) :: :ok
  def deliver(owner, _reference, %{"method" => method} = message) when not is_map_key(message, "id") do
    send(owner, {:mcp_notification, method, message["params"] || %{}})
    :ok
  end

  def deliver(owner, reference, message) do
    send(owner, {:mcp_client, reference, message})
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
