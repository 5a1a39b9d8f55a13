defmodule Patterns.Catalogue do
  @moduledoc """
  The patterns: read from `priv/patterns.json` while this compiles, and searched by their keywords.

  A pattern is a map with text keys; which ones it has varies.
  """

  @file_name Path.expand("../../priv/patterns.json", __DIR__)
  @external_resource @file_name

  @catalogue @file_name |> File.read!() |> McpServer.JSON.decode!()
  @patterns @catalogue["patterns"]

  words = fn texts -> Enum.flat_map(texts, &String.split(&1, ~r/[^a-z0-9]+/, trim: true)) end
  @indexed for pattern <- @patterns, do: {MapSet.new(words.(pattern["keywords"])), pattern}

  @doc "All patterns that have a word of the query among their keywords, the most words first."
  @spec search(map) :: [map]
  def search(%{"q" => query} = arguments) do
    words = query |> String.downcase() |> String.split(~r/[^a-z0-9]+/, trim: true) |> MapSet.new()

    @indexed
    |> Enum.map(fn {keywords, pattern} -> {-MapSet.size(MapSet.intersection(words, keywords)), pattern} end)
    |> Enum.filter(fn {score, pattern} -> score < 0 and filtered?(pattern, arguments) end)
    |> Enum.sort_by(&elem(&1, 0))
    |> Enum.map(&elem(&1, 1))
  end

  defp filtered?(pattern, arguments),
    do: Enum.all?(["category", "difficulty"], &(arguments[&1] in [nil, pattern[&1]]))

  @doc "The pattern with that id."
  @spec fetch(String.t()) :: {:ok, map} | :error
  def fetch(id), do: Enum.find_value(@patterns, :error, &if(&1["id"] == id, do: {:ok, &1}))

  @doc "The ids of patterns that a search for this id finds."
  @spec similar_ids(String.t()) :: [String.t()]
  def similar_ids(id), do: Enum.map(search(%{"q" => id}), & &1["id"])

  @doc "Where the patterns are from."
  @spec provenance() :: keyword
  def provenance do
    {:ok, updated, 0} = DateTime.from_iso8601(@catalogue["updated"])
    [source: @catalogue["source"], timestamp: updated, version: @catalogue["version"]]
  end
end
