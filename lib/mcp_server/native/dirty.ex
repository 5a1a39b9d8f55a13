defmodule McpServer.Native.Dirty do
  # Calls that run long go to dirty CPU schedulers, but never to all of them at once: then nobody else's
  # would run. A call that finds them taken waits here, in its own process, on no scheduler at all. Who
  # waits is served in the order of coming (native/mcp_nif/src/dirty.rs).
  @moduledoc false

  @doc """
  How many bytes are read on a normal scheduler, which should not be held for longer than 1 ms.

  Reading this much takes about 0.4 ms. The way to a dirty scheduler and back takes 25 µs of processor time, a tenth of
  what reading 71 KiB takes. The native side has the same bound for what it writes (`resources::INLINE_BYTES`).
  """
  @spec inline_bytes() :: pos_integer()
  def inline_bytes, do: 96 * 1024

  @doc "Makes the call, and where it answers `:busy` again when its turn has come."
  @spec call((() -> result)) :: result when result: term
  def call(native) do
    with :busy <- native.() do
      receive do: (:mcp_wake -> call(native))
    end
  end
end
