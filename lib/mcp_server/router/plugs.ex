defmodule McpServer.Router.Plugs do
  @moduledoc false
  # The statement `plug`: the plugs around a declaration, and their functions.
  #
  # Each statement and each declaration has the path of its enclosing blocks. A plug is around a declaration if the
  # declaration's path begins with the plug's path.

  alias McpServer.Router.{Refusal, Scope}
  alias McpServer.Suggestion

  @typedoc "A statement in the router's data."
  @type t :: {id :: {module, pos_integer}, plug :: module, options :: term}

  @typedoc "A plug for calls: the arity of its function, and its options if the arity is 3."
  @type resolved :: {id :: {module, pos_integer}, plug :: module, 2 | 3, options :: term}

  @doc "Adds a statement."
  @spec put!(module, term, term, Refusal.place()) :: :ok
  def put!(router, plug, options, place) do
    if not is_atom(plug) or plug in [nil, true, false] do
      Refusal.refuse!(place, "a plug is a module, got: #{inspect(plug)}. Write: plug MyApp.Audit")
    end

    what = "plug #{inspect(plug)}"
    check_data!(options, what, place)
    check_place!(router, what, place)
    number = length(Scope.declared(router, :plug)) + 1
    Scope.declare(router, :plug, %{what: what, place: place, plug: {{router, number}, plug, options}})
  end

  defp check_place!(router, what, place) do
    case Enum.filter(Scope.path(router), &is_binary/1) do
      [declaration, block | _inner] ->
        Refusal.refuse!(place, "#{what} stands in the block of #{block}. Move it into the block of #{declaration}")

      _outermost ->
        :ok
    end
  end

  # The options are stored in the compiled router.
  defp check_data!(options, what, place) do
    _escaped = Macro.escape(options)
    :ok
  rescue
    ArgumentError ->
      Refusal.refuse!(
        place,
        "the options of #{what} hold what cannot be compiled into the router, such as an anonymous function. " <>
          "Write {MyApp.Plugs, :name} or &MyApp.Plugs.name/1 in its place"
      )
  end

  @doc "The entry of a declaration, with the plugs around it if it has any."
  @spec around(map, [non_neg_integer | String.t()], [map]) :: map
  def around(entry, path, statements) do
    case for(%{path: outer, plug: plug} <- statements, List.starts_with?(path, outer), do: {length(outer), plug}) do
      [] -> entry
      plugs -> put(entry, plugs |> Enum.sort_by(&elem(&1, 0)) |> Enum.map(&elem(&1, 1)))
    end
  end

  # The plugs of an included entry's router stay innermost.
  defp put(entry, plugs), do: Map.update(entry, :plugs, plugs, &(plugs ++ &1))

  @doc "The function of a plug with its options, or the plug's error."
  @spec resolve(t) :: {:ok, resolved} | {:error, String.t()}
  def resolve({id, plug, options}) do
    arity = if Code.ensure_loaded?(plug), do: arity(plug)

    with :ok <- callable(plug, arity, options),
         {:ok, options} <- init(plug, options),
         do: {:ok, {id, plug, arity, options}}
  end

  defp arity(plug), do: Enum.find([3, 2], &function_exported?(plug, :call, &1))

  defp callable(plug, nil, _options) do
    if Code.ensure_loaded?(plug),
      do: {:error, "plug #{inspect(plug)}: the module has no function call/2 or call/3, see McpServer.Plug"},
      else: {:error, "plug #{inspect(plug)}: there is no such module#{nearest(plug)}"}
  end

  defp callable(plug, 2, options) when options != [] do
    {:error, "plug #{inspect(plug)}: it takes no options, got: #{inspect(options)}. One with options defines call/3"}
  end

  defp callable(_plug, _arity, _options), do: :ok

  defp nearest(plug), do: Suggestion.did_you_mean(inspect(plug), ["McpServer.RateLimit", "McpServer.Log"])

  defp init(plug, options) do
    if function_exported?(plug, :init, 1), do: {:ok, plug.init(options)}, else: {:ok, options}
  rescue
    error in ArgumentError -> {:error, "plug #{inspect(plug)}: #{Exception.message(error)}"}
  end

  @doc "The entry with its plugs resolved for requests."
  @spec resolve_all(map) :: {:ok, map} | {:error, String.t()}
  def resolve_all(%{plugs: plugs} = entry) do
    plugs
    |> Enum.reduce_while({:ok, []}, fn plug, {:ok, resolved} ->
      case resolve(plug) do
        {:ok, function} -> {:cont, {:ok, [function | resolved]}}
        {:error, text} -> {:halt, {:error, text}}
      end
    end)
    |> case do
      {:ok, resolved} -> {:ok, %{entry | plugs: Enum.reverse(resolved)}}
      {:error, text} -> {:error, text}
    end
  end

  def resolve_all(entry), do: {:ok, entry}
end
