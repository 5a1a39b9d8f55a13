defmodule McpServer.Suggestion do
  @moduledoc false
  # The nearest of the allowed names, for messages that say what was probably meant.

  # Below this Jaro distance a suggestion is a guess that sends people the wrong way.
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
  The same for the end of a sentence, which ends with a stop when nothing resembles `given`.

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

  defp nearest(given, allowed) do
    allowed
    |> Enum.map(&{String.jaro_distance(String.downcase(given), String.downcase(&1)), &1})
    |> Enum.filter(fn {distance, _name} -> distance >= @near end)
    |> Enum.max(fn -> {0.0, nil} end)
    |> elem(1)
  end
end
