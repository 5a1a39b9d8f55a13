defmodule McpServer.Native.Dirty do
  # Calls that run long go to dirty CPU schedulers, but never to all of them at once: then nobody else's
  # would run. A call that finds them taken waits here, in its own process, on no scheduler at all.
  @moduledoc false

  @longest_wait 16

  @doc "Makes the call, again and again while it answers `:busy`."
  @spec call((() -> result)) :: result when result: term
  def call(native), do: call(native, 1)

  defp call(native, wait) do
    with :busy <- native.() do
      # Between half of it and all of it, so that those who wait do not come back together.
      Process.sleep(div(wait, 2) + :rand.uniform(div(wait + 1, 2)))
      call(native, min(wait * 2, @longest_wait))
    end
  end
end
