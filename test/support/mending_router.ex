defmodule McpServer.MendingRouter do
  # A router that repairs arguments.
  @moduledoc false
  use McpServer.Router, name: "mending", repair: true

  tool "book", "Books", McpServer.MendingRouter.Handlers, :show do
    input_field "seats", "How many", :integer
    input_field "rows", "Which", :array, items: :integer
    input_field "more", "Which others", :array, items: :integer
  end
end

defmodule McpServer.MendingRouter.Handlers do
  @moduledoc false
  import McpServer.Controller

  def show(_conn, arguments), do: {:ok, [text(inspect(arguments))]}
end
