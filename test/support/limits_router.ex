defmodule McpServer.LimitsRouter do
  # The router of the tests of limits, also for stdio in a separate VM.
  @moduledoc false
  use McpServer.Router, name: "limits"

  alias McpServer.LimitsRouter.Handlers

  tool "back", "Gives its arguments back", Handlers, :back, input_schema: %{"type" => "object"}
  tool "keep", "Says how many bytes a string of its arguments keeps alive", Handlers, :keep

  tool "wait", "Waits until its client has gone", Handlers, :wait

  tool "bounded", "Takes numbers up to a bound", Handlers, :back,
    input_schema: %{
      "type" => "object",
      "properties" => %{
        "v" => %{"type" => "integer", "maximum" => 18_446_744_073_709_551_615, "minimum" => -9_223_372_036_854_775_808}
      }
    }

  resource "any", "x://{id}" do
    read Handlers, :read
  end
end

defmodule McpServer.LimitsRouter.Handlers do
  @moduledoc false
  use McpServer.Controller

  def back(_conn, arguments), do: {:ok, arguments}

  def keep(_conn, %{"text" => text}) do
    :erlang.garbage_collect()
    {:ok, %{"bytes" => byte_size(text), "kept" => :binary.referenced_byte_size(text)}}
  end

  def wait(_conn, _arguments), do: receive(do: (:never -> {:ok, []}))

  def read(_conn, %{"id" => id}), do: content("any", "x://" <> id, text: id)
end
