defmodule McpServer.Native.Dirty do
  # Long native calls run on dirty CPU schedulers, but never on all of them, so that other work can still run. If the
  # permitted ones are busy, the calling process waits here without blocking a scheduler. The clients that processes work
  # for take turns (native/mcp_nif/src/dirty.rs): calls of one client wait in the order of their arrival, and a client
  # with many calls delays those of another by one call.
  @moduledoc false

  alias McpServer.Native
  alias McpServer.Quota.Client

  @doc """
  The number of bytes that are parsed on a normal scheduler, which should not be blocked for longer than 1 ms.

  Parsing this much takes about 0.4 ms. Switching to a dirty scheduler and back takes 25 µs of processor time, a tenth
  of the time for parsing 71 KiB. The native side has the same limit for writing (`resources::INLINE_BYTES`).
  """
  @spec inline_bytes() :: pos_integer()
  def inline_bytes, do: 96 * 1024

  @doc """
  Names the client that the calling process works for, by its principal and the address of its peer. Processes that name
  none share their turns, with clients that have no share.
  """
  @spec work_for(principal :: term(), peer :: :inet.ip_address() | nil) :: :ok
  # Most calls never wait, so only those that do make a client of it.
  def work_for(principal, peer), do: name({:of, principal, peer})

  @doc "Names the client that the calling process works for."
  @spec work_for(Client.t()) :: :ok
  def work_for(client), do: name({:client, client})

  defp name(client) do
    Process.put(__MODULE__, client)
    :ok
  end

  @doc "The client that the calling process works for, or `nil`."
  @spec client() :: Client.t()
  def client do
    case Process.get(__MODULE__) do
      nil -> nil
      {:client, client} -> client
      {:of, principal, peer} -> Client.new(principal, peer)
    end
  end

  @doc "Makes the call. If it returns `:busy`, waits for its turn and repeats it."
  @spec call((() -> result)) :: result when result: term
  def call(native) do
    with :busy <- native.() do
      if Native.dirty_wait(:erlang.term_to_binary(client())) == :waiting, do: receive(do: (:mcp_wake -> :ok))
      call(native)
    end
  end
end
