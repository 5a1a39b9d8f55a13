defmodule McpServer.Suggestion do
  @moduledoc false
  # Finds the most similar allowed name, for suggestions in error texts.

  # Below this Jaro similarity a suggestion would be misleading.
  @near 0.77

  @doc """
  `", did you mean x?"` when one of `allowed` resembles `given`, else `""`.

      iex> McpServer.Suggestion.did_you_mean("requird", ["required", "default"])
      ", did you mean required?"
      iex> McpServer.Suggestion.did_you_mean("zzz", ["required", "default"])
      ""
  """
  @spec did_you_mean(String.t(), [String.t()], prefix :: String.t()) :: String.t()
  def did_you_mean(given, allowed, prefix \\ "") do
    case nearest(given, allowed) do
      nil -> ""
      name -> ", did you mean #{prefix}#{name}?"
    end
  end

  @doc """
  Like `did_you_mean/3`, for the end of a sentence: a full stop if nothing resembles `given`.

      iex> McpServer.Suggestion.end_sentence("requird", ["required"], ":")
      ", did you mean :required?"
      iex> McpServer.Suggestion.end_sentence("zzz", ["required"])
      "."
  """
  @spec end_sentence(String.t(), [String.t()], prefix :: String.t()) :: String.t()
  def end_sentence(given, allowed, prefix \\ "") do
    hint = did_you_mean(given, allowed, prefix)
    if hint == "", do: ".", else: hint
  end

  @doc """
  Like `did_you_mean/3`, but lists all names if nothing resembles `given`.

      iex> McpServer.Suggestion.did_you_mean_or_all("titel", ["title", "due"], "it has none", "It has")
      ", did you mean title?"
      iex> McpServer.Suggestion.did_you_mean_or_all("zzz", ["title", "due"], "it has none", "It has")
      ". It has: title, due"
      iex> McpServer.Suggestion.did_you_mean_or_all("zzz", [], "it has none", "It has")
      ": it has none"
  """
  @spec did_you_mean_or_all(String.t(), [String.t()], none :: String.t(), some :: String.t()) :: String.t()
  def did_you_mean_or_all(_given, [], none, _some), do: ": #{none}"

  def did_you_mean_or_all(given, allowed, _none, some) do
    hint = did_you_mean(given, allowed)
    if hint == "", do: ". #{some}: #{Enum.join(allowed, ", ")}", else: hint
  end

  defp nearest(given, allowed) do
    allowed
    |> Enum.map(&{String.jaro_distance(String.downcase(given), String.downcase(&1)), &1})
    |> Enum.filter(fn {distance, _name} -> distance >= @near end)
    |> Enum.max(fn -> {0.0, nil} end)
    |> elem(1)
  end
end
