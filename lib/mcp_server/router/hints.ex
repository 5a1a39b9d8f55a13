defmodule McpServer.Router.Hints do
  @moduledoc false
  # The hints of a tool, and what is told of those of the specification, which are named the other way round: there a
  # tool is destructive and of an open world unless it says that it is not.

  alias McpServer.Router.Refusal

  @names ~w(read_only non_destructive idempotent closed_world)
  @opposites %{"destructive" => "non_destructive", "open_world" => "closed_world"}
  @words @names ++ Map.keys(@opposites)

  @doc "The hints there are."
  @spec names() :: [String.t()]
  def names, do: @names

  @doc "Refuses hints in the place of options, and those that hold of every tool which does not say otherwise."
  @spec check!(term, String.t(), Refusal.place()) :: :ok
  def check!(options, what, place) do
    if Keyword.keyword?(options) do
      for {option, _value} <- options, word(option) in @words, do: refuse_option!(option, what, place)
      for hint <- List.wrap(options[:hints]), word(hint) in Map.keys(@opposites), do: refuse_hint!(hint, what, place)
    end

    :ok
  end

  @spec refuse_option!(atom, String.t(), Refusal.place()) :: no_return
  defp refuse_option!(option, what, place) do
    names = Enum.map_join(@names, ", ", &":#{&1}")
    Refusal.refuse!(place, "#{what} has no option #{option}. Its hints are a list, of these: hints: [#{names}]")
  end

  @spec refuse_hint!(term, String.t(), Refusal.place()) :: no_return
  defp refuse_hint!(hint, what, place) do
    Refusal.refuse!(
      place,
      "#{what} has no hint #{inspect(hint)}: every tool is, unless it has :#{@opposites[word(hint)]}"
    )
  end

  defp word(name) when is_atom(name) or is_binary(name),
    do: name |> to_string() |> Macro.underscore() |> String.replace_suffix("_hint", "")

  defp word(_other), do: nil
end
