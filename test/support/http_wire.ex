defmodule McpServer.HttpWire do
  # Checks every message of a server over HTTP against the official schema of its revision, as `McpServer.WireSchema`
  # does for one transport. A session is one transport. A request without a session is a separate one.
  @moduledoc false

  alias McpServer.WireSchema

  @doc "The state of a session before its first message, or of one that another process opened."
  def new(revision \\ nil), do: %{WireSchema.new() | session: revision}

  @doc "Stores a transport under a name, for this process."
  def keep(name, transport), do: Process.put({__MODULE__, name}, transport)

  @doc "A request's body was sent."
  def sent(name, body), do: see(name, {:in, IO.iodata_to_binary(body)})

  @doc "A message was received."
  def received(name, message), do: see(name, {:out, message})

  defp see(name, event) do
    transport = Process.get({__MODULE__, name}) || WireSchema.new()
    Process.put({__MODULE__, name}, WireSchema.see(transport, event))
    :ok
  end
end
