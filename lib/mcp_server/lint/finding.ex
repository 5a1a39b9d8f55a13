defmodule McpServer.Lint.Finding do
  @moduledoc false
  # `McpServer.Lint` documents the fields.

  @enforce_keys [:severity, :code, :router, :kind, :name, :pointer, :message, :advice, :file, :line]
  defstruct @enforce_keys

  @doc """
  Formats the finding as one line, without its advice.

      lib/shop/mcp.ex:12: error: tool "tag" /inputSchema/properties/tags: the array has no `items` [array_items]
  """
  @spec format(McpServer.Lint.finding()) :: String.t()
  def format(%__MODULE__{} = finding), do: "#{finding.file}:#{finding.line}: #{finding.severity}: #{sentence(finding)}"

  @doc false
  @spec sentence(McpServer.Lint.finding()) :: String.t()
  def sentence(finding), do: "#{subject(finding)}#{at(finding.pointer)}: #{finding.message} [#{finding.code}]"

  defp subject(%{kind: kind, name: name}), do: "#{kind} #{inspect(name)}"

  defp at(""), do: ""
  defp at(pointer), do: " " <> pointer
end
