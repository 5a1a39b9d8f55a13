# The parts of Jason that users' structs need, for machines where Jason cannot be installed: the protocol with its
# documented shape (`encode(value, opts)` returns iodata), implementations for the plain types, `encode!/2`,
# `encode_to_iodata!/2`, and formatting of the encoded text for `pretty: true`.
defprotocol Jason.Encoder do
  @fallback_to_any true
  def encode(value, opts)
end

defimpl Jason.Encoder, for: Any do
  def encode(value, _opts), do: raise(Protocol.UndefinedError, protocol: @protocol, value: value)
end

defimpl Jason.Encoder, for: [Atom, BitString, Integer, Float] do
  def encode(value, _opts), do: McpServer.JSON.encode!(value)
end

defimpl Jason.Encoder, for: List do
  def encode(list, opts), do: [?[, list |> Enum.map(&Jason.Encoder.encode(&1, opts)) |> Enum.intersperse(?,), ?]]
end

defimpl Jason.Encoder, for: Map do
  def encode(map, opts) do
    members =
      for {key, value} <- map, do: [McpServer.JSON.encode!(to_string(key)), ?:, Jason.Encoder.encode(value, opts)]

    [?{, Enum.intersperse(members, ?,), ?}]
  end
end

defmodule Jason do
  def encode_to_iodata!(value, options \\ []) do
    iodata = Jason.Encoder.encode(value, %{})
    if options[:pretty], do: pretty(iodata), else: iodata
  end

  def encode!(value, options \\ []), do: value |> encode_to_iodata!(options) |> IO.iodata_to_binary()

  # Jason formats the encoded text of all encoders.
  defp pretty(iodata) do
    {lines, _level} =
      ~r/"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\[\]{},:"]+/
      |> Regex.scan(IO.iodata_to_binary(iodata))
      |> Enum.map_reduce(0, fn [token], level -> spread(token, level) end)

    lines |> IO.iodata_to_binary() |> String.replace(~r/([\[{])\s+([\]}])/, "\\1\\2")
  end

  defp spread(open, level) when open in ["[", "{"], do: {[open, line(level + 1)], level + 1}
  defp spread(close, level) when close in ["]", "}"], do: {[line(level - 1), close], level - 1}
  defp spread(",", level), do: {[?,, line(level)], level}
  defp spread(":", level), do: {": ", level}
  defp spread(token, level), do: {token, level}

  defp line(level), do: [?\n, List.duplicate("  ", level)]
end
