defmodule McpServer.Presentation.Declaration do
  @moduledoc false
  # The declarations of a view. They are collected while its module compiles, and a mistake is reported at its line. The
  # value is built once, at its first use.

  alias McpServer.{NamedModule, Presentation}
  alias McpServer.Presentation.{Builtin, Kind}

  @kinds :mcp_presentation_kinds
  @options :mcp_presentation_options

  @doc "Begins a view."
  @spec open!(module, keyword, String.t(), pos_integer) :: :ok
  def open!(module, options, file, line) do
    Module.put_attribute(module, @kinds, [])
    Module.put_attribute(module, @options, options)
    checked(file, line, fn -> Presentation.new(options) end)
    :ok
  end

  @doc "Adds a kind to a view."
  @spec put_kind!(module, term, term, String.t(), pos_integer) :: :ok
  def put_kind!(module, name, schema, file, line) do
    kinds = Module.get_attribute(module, @kinds)

    cond do
      List.keymember?(kinds, name, 0) -> refuse!(file, line, "kind #{inspect(name)} is already declared")
      name in Builtin.names() -> refuse!(file, line, "kind #{inspect(name)} is one that every view has")
      true -> checked(file, line, fn -> Kind.new(name, schema) end)
    end

    Module.put_attribute(module, @kinds, kinds ++ [{name, schema}])
  end

  @doc "Ends a view. Returns the options of its value, and a digest that changes with them."
  @spec close!(module) :: {binary, keyword}
  def close!(module) do
    options = [kinds: Module.get_attribute(module, @kinds)] ++ Module.get_attribute(module, @options)
    {:erlang.md5(:erlang.term_to_binary(options)), options}
  end

  defp checked(file, line, fun) do
    fun.()
  rescue
    error in ArgumentError -> refuse!(file, line, error.message)
  end

  defp refuse!(file, line, description), do: raise(CompileError, file: file, line: line, description: description)

  @doc "The value of a view's module. Each schema compiles once per version of the module."
  @spec fetch!(module) :: Presentation.t()
  def fetch!(module) do
    # A router that needs the schemas may be compiled before this module.
    if missing = NamedModule.missing(module), do: raise(ArgumentError, "#{inspect(module)}: #{missing}")

    if not function_exported?(module, :__presentation__, 0),
      do: raise(ArgumentError, "#{inspect(module)} does not `use McpServer.Presentation`")

    {digest, options} = module.__presentation__()

    case :persistent_term.get({__MODULE__, module}, nil) do
      {^digest, view} ->
        view

      _none_or_older ->
        view = Presentation.new(options)
        :persistent_term.put({__MODULE__, module}, {digest, view})
        view
    end
  end

  @doc "The view. Raises if its markers cannot be written."
  @spec check_markers!(Presentation.t()) :: Presentation.t()
  def check_markers!(%Presentation{} = view) do
    for {which, name} <- [index: view.index, card: view.card], name != nil, do: marker!(view, which)
    view
  end

  @doc "A marker of the view."
  @spec marker!(Presentation.t(), :index | :card) :: String.t()
  def marker!(view, which) do
    name = Map.fetch!(view, which)
    name || raise ArgumentError, "the view has no #{which} marker: give it the option #{which}:"

    unless Enum.all?([name, view.marker_version], &(&1 =~ ~r/\A[A-Za-z0-9._-]+\z/)) do
      raise ArgumentError, "a marker's name and version are letters, digits, '.', '_' and '-', got: #{inspect(name)}"
    end

    "<!-- kind:#{name}:#{view.marker_version} -->"
  end

  @doc "The output schema of a tool that returns data of these kinds."
  @spec output_schema(Presentation.t(), [String.t()] | :all) :: map
  def output_schema(view, :all), do: output_schema(view, Map.keys(view.kinds))

  def output_schema(view, names) do
    names = Enum.uniq(Enum.sort(names) -- Builtin.names()) ++ Builtin.names()
    %{"type" => "object", "required" => ["kind"], "oneOf" => Enum.map(names, &kind!(view, &1).schema)}
  end

  @doc "A kind of the view."
  @spec kind!(Presentation.t(), String.t()) :: Kind.t()
  def kind!(view, name) do
    with :error <- Map.fetch(view.kinds, name) do
      raise ArgumentError,
            "the view declares no kind #{inspect(name)}, but #{view.kinds |> Map.keys() |> Enum.join(", ")}"
    else
      {:ok, kind} -> kind
    end
  end
end
