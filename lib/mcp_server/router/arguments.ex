defmodule McpServer.Router.Arguments do
  @moduledoc false
  # The form of arguments for their handler: `arguments:`, and for a tool `struct:` and the rules of its fields.

  alias McpServer.Router.{Places, Refusal, Rule}
  alias McpServer.Suggestion

  @typedoc """
  `:rule` is for the core. `:keys` has the atoms for argument keys, so that these atoms exist. `:structs` are the
  structs for objects.
  """
  @type t :: %{rule: Rule.t(), keys: [atom], structs: [struct_of_object]}
  @type struct_of_object :: %{
          module: module,
          pointer: String.t(),
          names: [String.t()],
          given: [String.t()]
        }

  @doc "The form of the arguments of a tool whose block has ended, `nil` if they stay unchanged."
  @spec form!(map, %{String.t() => term}) :: t | nil
  def form!(tool, schema) do
    rule = Rule.of(tool)
    structs = structs(rule, schema, "/inputSchema")

    cond do
      tool.keys == "atoms" -> form(Map.put(rule, "keys", "atoms"), schema, structs, tool)
      structs != [] -> form(rule, schema, structs, tool)
      rule != %{} -> %{rule: rule, keys: [], structs: []}
      true -> nil
    end
  end

  @doc """
  Adds the atoms for the names of a prompt's arguments or of a resource's variables to its entry, unless they stay texts.
  The core makes those of tools.
  """
  @spec put_atoms!(map, map, [String.t()]) :: map
  def put_atoms!(entry, %{keys: "strings"}, _names), do: entry
  def put_atoms!(entry, declaration, names), do: Map.put(entry, :atoms, Map.new(names, &{&1, atom!(&1, declaration)}))

  defp form(rule, schema, structs, tool) do
    keys = for name <- names(schema), do: atom!(name, tool)
    %{rule: rule, keys: Enum.uniq(keys), structs: structs}
  end

  # At compile time the author's names become new atoms. At run time the names may come from other sources.
  defp atom!(name, %{run_time?: true} = tool) do
    String.to_existing_atom(name)
  rescue
    ArgumentError ->
      Refusal.refuse!(
        tool.place,
        "#{tool.what} has `arguments: :atoms`, but there is no atom :#{name} yet. Name its arguments by atoms of your code"
      )
  end

  defp atom!(name, tool) do
    if String.length(name) <= 255,
      do: String.to_atom(name),
      else: Refusal.refuse!(tool.place, "#{tool.what} has an argument whose name is too long for an atom: #{name}")
  end

  defp names(%{} = schema) do
    properties = properties(schema)
    Map.keys(properties) ++ Enum.flat_map(properties, &names(elem(&1, 1))) ++ names(schema["items"])
  end

  defp names(_no_object), do: []

  defp properties(%{"properties" => %{} = properties}), do: properties
  defp properties(_schema), do: %{}

  defp structs(rule, %{} = schema, pointer) do
    inner =
      for {name, rule} <- Map.get(rule, "properties", %{}),
          found <- structs(rule, properties(schema)[name], pointer <> Places.property(name)),
          do: found

    items = if items = rule["items"], do: structs(items, schema["items"], pointer <> "/items"), else: []
    own(rule, schema, pointer) ++ inner ++ items
  end

  defp structs(_rule, _schema, _pointer), do: []

  defp own(%{"struct" => name}, schema, pointer) do
    properties = properties(schema)
    defaults = for {name, %{"default" => _default}} <- properties, do: name

    [
      %{
        module: String.to_existing_atom(name),
        pointer: pointer,
        names: Enum.sort(Map.keys(properties)),
        given: Map.get(schema, "required", []) ++ defaults
      }
    ]
  end

  defp own(_rule, _schema, _pointer), do: []

  @doc "Refuses an invalid name of a struct."
  @spec check_struct!(term, String.t(), Refusal.place()) :: :ok
  def check_struct!(nil, _what, _place), do: :ok

  def check_struct!(module, what, place) do
    if is_atom(module) and match?("Elixir." <> _name, Atom.to_string(module)),
      do: :ok,
      else: Refusal.refuse!(place, "the struct of #{what} is a module such as MyApp.Note, got: #{inspect(module)}")
  end

  @doc "The error of a struct, after all modules were compiled. `nil` if the arguments fit into the struct."
  @spec misfit(struct_of_object) :: String.t() | nil
  def misfit(%{module: module} = object) do
    if Code.ensure_loaded?(module) and function_exported?(module, :__struct__, 0),
      do: unknown(object, fields(module)) || enforced(object, module),
      else: "becomes %#{inspect(module)}{}, but there is no such struct. Write `defstruct` in #{inspect(module)}"
  end

  defp fields(module), do: for(key <- Map.keys(module.__struct__()), key != :__struct__, do: Atom.to_string(key))

  defp unknown(%{module: module, names: names}, fields) do
    with name when name != nil <- Enum.find(names, &(&1 not in fields)) do
      stop = Suggestion.end_sentence(name, fields)
      known = fields |> Enum.sort() |> Enum.join(", ")
      "declares #{inspect(name)}, which %#{inspect(module)}{} does not have#{stop} Its fields are: #{known}"
    end
  end

  # Since Elixir 1.18 modules do not expose their enforced keys, so a struct is built without the key.
  defp enforced?(module, name) do
    _struct = module.__struct__(for field <- fields(module), field != name, do: {String.to_existing_atom(field), nil})
    false
  rescue
    ArgumentError -> true
  end

  defp enforced(%{module: module, given: given}, module) do
    missing = for field <- fields(module), field not in given, do: field

    with name when name != nil <- Enum.find(missing, &enforced?(module, &1)) do
      "may leave out #{inspect(name)}, which %#{inspect(module)}{} enforces. " <>
        "Declare it with `required: true` or a `default:`"
    end
  end
end
