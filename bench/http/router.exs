defmodule Bench.Http.Tools do
  @moduledoc "The functions of the tools."
  use McpServer.Controller

  def echo(_conn, %{"text" => text}), do: {:ok, [text(text)]}
  def search(_conn, _arguments), do: {:ok, []}
end

defmodule Bench.Http.Router do
  @moduledoc "The called tool, and the tools that are only listed."
  use McpServer.Router, name: "bench", version: "1.0.0"

  for %{"name" => name, "description" => description, "inputSchema" => schema} = tool <- Bench.Http.Request.tools() do
    options = for annotations <- List.wrap(tool["annotations"]), do: {:annotations, annotations}
    function = if name == "echo", do: :echo, else: :search
    tool name, description, Bench.Http.Tools, function, [{:input_schema, schema} | options]
  end
end
