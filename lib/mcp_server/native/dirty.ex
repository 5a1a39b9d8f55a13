defmodule McpServer.Native.Dirty do
  # Calls that run long go to dirty CPU schedulers, but never to all of them at once: then nobody else's
  # would run. A call that finds them taken waits here, in its own process, on no scheduler at all. Who
  # waits is served in the order of coming (native/mcp_nif/src/dirty.rs).
  @moduledoc false

  @doc "Makes the call, and where it answers `:busy` again when its turn has come."
  @spec call((() -> result)) :: result when result: term
  def call(native) do
    with :busy <- native.() do
      receive do: (:mcp_wake -> call(native))
    end
  end
end
