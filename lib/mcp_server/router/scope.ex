defmodule McpServer.Router.Scope do
  @moduledoc false
  # The state of a router that is being compiled: the open blocks, innermost first, and the complete declarations, in
  # order. Both are attributes of the module. For a tool that is declared at run time they are in the process
  # dictionary.

  @server :__mcp_server__
  @open :__mcp_open__
  @declared :__mcp_declared__
  @scopes :__mcp_scopes__

  alias McpServer.Router.Refusal

  @type kind :: :tool | :prompt | :resource | :overflow | :plug

  @doc "The declarations that `fun` makes for a compiled router. They are not stored."
  @spec at_run_time(module, kind, (() -> term)) :: [map]
  def at_run_time(module, kind, fun) do
    Process.put({__MODULE__, module}, %{@server => {module.__mcp__(:server), nil}})
    fun.()
    declared(module, kind)
  after
    Process.delete({__MODULE__, module})
  end

  @doc "Whether a declaration for the compiled router is being made."
  @spec run_time?(module) :: boolean
  def run_time?(module), do: Process.get({__MODULE__, module}) != nil

  @doc "Refuses a declaration inside another one."
  @spec check_outermost!(module, String.t(), Refusal.place()) :: :ok
  def check_outermost!(module, what, place) do
    case opened(module) do
      [] ->
        :ok

      blocks ->
        %{what: outermost} = List.last(blocks)

        Refusal.refuse!(
          place,
          "#{what} stands in the block of #{outermost}. Move it below the `end` of #{outermost}"
        )
    end
  end

  @doc "Enters a block."
  @spec open(module, map) :: :ok
  def open(module, block), do: put_open(module, [block | opened(module)])

  @doc "The checked options of the router."
  @spec server(module) :: map
  def server(module), do: module |> get(@server, nil) |> elem(0)

  @doc "The innermost open block."
  @spec current(module) :: map
  def current(module), do: hd(opened(module))

  @doc "Changes the innermost open block."
  @spec update(module, (map -> map)) :: :ok
  def update(module, fun) do
    [block | outer] = opened(module)
    put_open(module, [fun.(block) | outer])
  end

  @doc "Leaves the innermost open block and returns it."
  @spec close(module) :: map
  def close(module) do
    [block | outer] = opened(module)
    put_open(module, outer)
    block
  end

  @doc "Adds a complete declaration, with the path of its enclosing blocks, outermost first."
  @spec declare(module, kind, map) :: :ok
  def declare(module, kind, declaration) do
    all = get(module, @declared, [])
    declaration = Map.put(declaration, :path, path(module))
    put(module, @declared, [{kind, declaration} | all])
  end

  @doc "Enters a `scope`."
  @spec enter(module) :: :ok
  def enter(module) do
    {scopes, number} = get(module, @scopes, {[], 0})
    put(module, @scopes, {[number | scopes], number + 1})
  end

  @doc "Leaves the innermost `scope`."
  @spec leave(module) :: :ok
  def leave(module) do
    {[_innermost | scopes], number} = get(module, @scopes, nil)
    put(module, @scopes, {scopes, number})
  end

  @doc "The numbers of the open scopes and the names of the open declarations, outermost first."
  @spec path(module) :: [non_neg_integer | String.t()]
  def path(module) do
    {scopes, _number} = get(module, @scopes, {[], 0})
    Enum.reverse(for(%{what: what} <- opened(module), do: what) ++ scopes)
  end

  @doc "The complete declarations of a kind, in order."
  @spec declared(module, kind) :: [map]
  def declared(module, kind) do
    all = get(module, @declared, [])
    for {^kind, declaration} <- Enum.reverse(all), do: declaration
  end

  defp opened(module), do: get(module, @open, [])
  defp put_open(module, blocks), do: put(module, @open, blocks)

  defp get(module, key, default) do
    case Process.get({__MODULE__, module}) do
      nil -> Module.get_attribute(module, key, default)
      at_run_time -> Map.get(at_run_time, key, default)
    end
  end

  defp put(module, key, value) do
    case Process.get({__MODULE__, module}) do
      nil -> Module.put_attribute(module, key, value)
      at_run_time -> Process.put({__MODULE__, module}, Map.put(at_run_time, key, value))
    end
  end
end
