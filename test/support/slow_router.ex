defmodule McpServer.SlowRouter do
  @moduledoc false
  # Tools whose check of access takes longer than a response without a stream may take (`stream_after: 1`).
  use McpServer.Router, name: "slow"

  alias McpServer.SlowRouter.Handlers

  tool "refused", "For nobody", Handlers, :run, authorize: {Handlers, :never?}, listed: :always

  tool "allowed", "For all", McpServer.HttpRouter.Handlers, :perform,
    authorize: {Handlers, :always?},
    input_schema: %{"type" => "object"}

  tool "hidden", "For nobody", Handlers, :run, visible: {Handlers, :never?}
end

defmodule McpServer.SlowRouter.Handlers do
  @moduledoc false
  use McpServer.Controller

  def never?(_conn), do: slowly(false)
  def always?(_conn), do: slowly(true)

  def run(_conn, _arguments), do: {:ok, "done"}

  defp slowly(answer) do
    Process.sleep(50)
    answer
  end
end
