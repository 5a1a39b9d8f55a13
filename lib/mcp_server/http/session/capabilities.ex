defmodule McpServer.Http.Session.Capabilities do
  @moduledoc false
  # A client's capabilities as flags, in two bytes of a sealed session id. Only capabilities that this library checks
  # have flags: all others are lost when a session is opened from its id.

  @view_types ["text/html;profile=mcp-app"]

  # The position of an entry is its flag: append new entries, never remove one.
  @known [
    {["roots"], %{}},
    {["roots", "listChanged"], true},
    {["sampling"], %{}},
    {["sampling", "tools"], %{}},
    {["sampling", "context"], %{}},
    {["elicitation"], %{}},
    {["elicitation", "form"], %{}},
    {["elicitation", "url"], %{}},
    {["extensions", "io.modelcontextprotocol/ui", "mimeTypes"], @view_types},
    {["extensions", "io.modelcontextprotocol/tasks"], %{}}
  ]
  @flags Enum.with_index(@known)

  @doc "The flags of capabilities."
  @spec to_flags(map()) :: non_neg_integer()
  def to_flags(capabilities) do
    Enum.reduce(@flags, 0, fn {{path, value}, place}, flags ->
      if declared?(at(capabilities, path), value), do: Bitwise.bor(flags, Bitwise.bsl(1, place)), else: flags
    end)
  end

  @doc "The capabilities with these flags. Unknown flags are ignored."
  @spec from_flags(non_neg_integer()) :: map()
  def from_flags(flags) do
    for {{path, value}, place} <- @flags, Bitwise.band(flags, Bitwise.bsl(1, place)) != 0, reduce: %{} do
      capabilities -> put(capabilities, path, value)
    end
  end

  # Clients may send capabilities of any shape.
  defp at(value, []), do: value
  defp at(map, [key | rest]) when is_map_key(map, key), do: at(Map.fetch!(map, key), rest)
  defp at(_other, _path), do: nil

  defp declared?(types, wanted) when is_list(wanted), do: is_list(types) and wanted -- types == []
  defp declared?(value, true), do: value == true
  defp declared?(value, %{}), do: is_map(value)

  defp put(capabilities, [key], value), do: Map.put_new(capabilities, key, value)

  defp put(capabilities, [key | rest], value),
    do: Map.put(capabilities, key, put(Map.get(capabilities, key, %{}), rest, value))
end
