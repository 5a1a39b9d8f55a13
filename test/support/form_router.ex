defmodule McpServer.FormRouter do
  # Asks the user with any form.
  @moduledoc false
  use McpServer.Router, name: "forms", debug_errors: true

  alias McpServer.FormRouter.Handlers

  tool "ask", "Asks with the form of its arguments", Handlers, :ask, input_schema: %{"type" => "object"}
end

defmodule McpServer.FormRouter.Handlers do
  @moduledoc false
  import McpServer.Controller

  def ask(conn, %{"form" => form}) do
    case accepted(conn, "form") do
      nil -> input_required([form: elicit("Well?", form)], state: :asked)
      content -> {:ok, [text(McpServer.JSON.encode!(content))]}
    end
  end
end
