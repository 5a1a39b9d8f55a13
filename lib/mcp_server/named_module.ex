defmodule McpServer.NamedModule do
  @moduledoc false
  # Checks that a module exists which a declaration names and reads while it is compiled, and finds similar names.

  alias McpServer.Suggestion

  @doc """
  `nil` for a module, or else what is wrong with it: the rest of a sentence that begins with its name.

  A module of the same project may still be being compiled, so this waits for it. If that module waits in turn, for one
  that does not exist, the compiler reports its error, and not that of the declaration.
  """
  @spec missing(module) :: String.t() | nil
  def missing(module) do
    _module = Code.ensure_compiled!(module)
    nil
  rescue
    ArgumentError -> "there is no such module" <> similar(module)
  end

  @doc "`\", did you mean MyApp.Notes?\"` for a module beside it with a similar name, else `\"\"`."
  @spec similar(module) :: String.t()
  def similar(module) do
    {above, [own]} = module |> Atom.to_string() |> String.split(".") |> Enum.split(-1)
    prefix = Enum.map_join(above, &(&1 <> "."))

    beside =
      for {available, _file, _loaded?} <- :code.all_available(),
          available = to_string(available),
          String.starts_with?(available, prefix),
          name = String.replace_prefix(available, prefix, ""),
          not String.contains?(name, "."),
          do: name

    Suggestion.did_you_mean(own, beside, String.replace_prefix(prefix, "Elixir.", ""))
  end
end
