defmodule McpServer.Router.Hints do
  @moduledoc false
  # The hints of a tool. Two of them are inverted in the specification: there a tool is destructive and open-world by
  # default.

  alias McpServer.Router.Refusal
  alias McpServer.Suggestion

  @names ~w(read_only non_destructive idempotent closed_world)
  @opposites %{
    "destructive" => {"it is destructive", "non_destructive"},
    "open_world" => {"its world is open", "closed_world"}
  }

  @doc "The names of all hints."
  @spec names() :: [String.t()]
  def names, do: @names

  @doc "Refuses hints among the options, unknown hints, and hints that hold by default."
  @spec check!(term, String.t(), Refusal.place()) :: :ok
  def check!(options, what, place) do
    if Keyword.keyword?(options) do
      for {option, value} <- options, do: check_option!(word(option), option, value, what, place)
      hints = List.wrap(options[:hints])
      for hint <- hints, is_atom(hint) or is_binary(hint), do: check_hint!(word(hint), hint, hints, what, place)
    end

    :ok
  end

  defp check_option!(word, option, value, what, place) do
    case advice(word, value) do
      nil -> :ok
      advice -> Refusal.refuse!(place, "#{what} has no option #{option}. #{advice}")
    end
  end

  defp advice(word, false) when word in @names, do: "Remove it: it is false unless you write hints: [:#{word}]"
  defp advice(word, _value) when word in @names, do: "Write: hints: [:#{word}]"

  defp advice(word, value) when is_map_key(@opposites, word) do
    {state, hint} = @opposites[word]

    if value == false,
      do: "Write: hints: [:#{hint}]",
      else: "#{String.capitalize(state)} unless you write hints: [:#{hint}]"
  end

  defp advice(_word, _value), do: nil

  defp check_hint!(word, hint, hints, what, place) when is_map_key(@opposites, word) do
    {state, opposite} = @opposites[word]

    Refusal.refuse!(
      place,
      "#{what} needs no hint #{inspect(hint)}: #{state} unless it has :#{opposite}. " <>
        "Write: hints: #{inspect(List.delete(hints, hint))}"
    )
  end

  defp check_hint!(_word, hint, _hints, what, place) do
    if to_string(hint) not in @names do
      meant = Suggestion.end_sentence(to_string(hint), @names, ":")
      names = Enum.map_join(@names, ", ", &":#{&1}")

      Refusal.refuse!(
        place,
        "#{what} has no hint #{inspect(hint)}#{meant} The hints are: #{names}"
      )
    end
  end

  defp word(name), do: name |> to_string() |> Macro.underscore() |> String.replace_suffix("_hint", "")
end
