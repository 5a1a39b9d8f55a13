defmodule McpServer.Router.Scope do
  @moduledoc false
  # What is known of a router while its module is being compiled: the blocks that are open, innermost
  # first, and the declarations that are complete, in order. Both are attributes of the module.

  @open :__mcp_open__
  @declared :__mcp_declared__
  @scopes :__mcp_scopes__

  alias McpServer.Router.Refusal

  @type kind :: :tool | :prompt | :resource | :overflow | :plug

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

  @doc "The options of the router, checked."
  @spec server(module) :: map
  def server(module), do: module |> Module.get_attribute(:__mcp_server__) |> elem(0)

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

  @doc "Adds a complete declaration, with the path of the blocks that it stands in, outermost first."
  @spec declare(module, kind, map) :: :ok
  def declare(module, kind, declaration) do
    all = Module.get_attribute(module, @declared, [])
    declaration = Map.put(declaration, :path, path(module))
    Module.put_attribute(module, @declared, [{kind, declaration} | all])
  end

  @doc "Enters a `scope`."
  @spec enter(module) :: :ok
  def enter(module) do
    {scopes, number} = Module.get_attribute(module, @scopes, {[], 0})
    Module.put_attribute(module, @scopes, {[number | scopes], number + 1})
  end

  @doc "Leaves the innermost `scope`."
  @spec leave(module) :: :ok
  def leave(module) do
    {[_innermost | scopes], number} = Module.get_attribute(module, @scopes)
    Module.put_attribute(module, @scopes, {scopes, number})
  end

  @doc "The numbers of the open scopes and what the open blocks declare, outermost first."
  @spec path(module) :: [non_neg_integer | String.t()]
  def path(module) do
    {scopes, _number} = Module.get_attribute(module, @scopes, {[], 0})
    Enum.reverse(for(%{what: what} <- opened(module), do: what) ++ scopes)
  end

  @doc "The complete declarations of a kind, in the order they were made."
  @spec declared(module, kind) :: [map]
  def declared(module, kind) do
    all = Module.get_attribute(module, @declared, [])
    for {^kind, declaration} <- Enum.reverse(all), do: declaration
  end

  defp opened(module), do: Module.get_attribute(module, @open, [])
  defp put_open(module, blocks), do: Module.put_attribute(module, @open, blocks)
end
