defmodule McpServer.Native.Dirty do
  # Long native calls run on dirty CPU schedulers, but never on all of them, so that other work can still run. If the
  # permitted ones are busy, the calling process waits here without blocking a scheduler. Calls wait in the order of
  # their arrival (native/mcp_nif/src/dirty.rs).
  @moduledoc false

  @doc """
  The number of bytes that are parsed on a normal scheduler, which should not be blocked for longer than 1 ms.

  Parsing this much takes about 0.4 ms. Switching to a dirty scheduler and back takes 25 µs of processor time, a tenth
  of the time for parsing 71 KiB. The native side has the same limit for writing (`resources::INLINE_BYTES`).
  """
  @spec inline_bytes() :: pos_integer()
  def inline_bytes, do: 96 * 1024

  @doc "Makes the call. If it returns `:busy`, waits for its turn and repeats it."
  @spec call((() -> result)) :: result when result: term
  def call(native) do
    with :busy <- native.() do
      receive do: (:mcp_wake -> call(native))
    end
  end
end
