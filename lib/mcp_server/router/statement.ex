defmodule McpServer.Router.Statement do
  @moduledoc false
  # Splits the arguments of DSL statements. Omitted arguments are `[]`, so that the definition can report the missing
  # one, even if the options or the block take its position.

  @doc "The positional arguments, the options and the block, which follows the last given argument."
  @spec split([Macro.t()]) :: {[Macro.t()], options :: Macro.t(), block :: Macro.t() | nil}
  def split(arguments) do
    {arguments, block} = Enum.map_reduce(arguments, nil, &take_block/2)
    {positional, [options, more]} = Enum.split(arguments, -2)
    {positional, if(more == [], do: options, else: quote(do: unquote(options) ++ unquote(more))), block}
  end

  @doc "The end of the suggested statement: the given options, and `do`."
  @spec tail([Macro.t()], block? :: boolean) :: String.t()
  def tail(arguments, block?) do
    given = for argument <- arguments, Keyword.keyword?(argument), option <- Keyword.delete(argument, :do), do: option
    options = if given == [], do: "", else: ", " <> source(given)
    if block?, do: options <> " do", else: options
  end

  defp source(options) do
    text = options |> Code.quoted_to_algebra() |> Inspect.Algebra.format(:infinity) |> IO.iodata_to_binary()
    String.slice(text, 1..-2//1)
  end

  defp take_block(argument, block) do
    if Keyword.keyword?(argument) and Keyword.has_key?(argument, :do),
      do: {Keyword.delete(argument, :do), argument[:do]},
      else: {argument, block}
  end

  @doc "The code of a block with the statements of `modules` imported."
  @spec within(Macro.t() | nil, [module]) :: Macro.t() | nil
  def within(nil, _modules), do: nil

  # `try` keeps the imports inside the block.
  def within(block, modules) do
    quote do
      try do
        unquote_splicing(for module <- modules, do: quote(do: import(unquote(module))))
        unquote(block)
      after
        :ok
      end
    end
  end

  @doc """
  In a module with both imports, keeps the controller's `resource/2`: the router's `resource` is used with a block.
  """
  @spec one_resource(Macro.Env.t()) :: Macro.t() | nil
  def one_resource(caller) do
    if List.keymember?(caller.functions, McpServer.Controller, 0) or
         List.keymember?(caller.macros, McpServer.Router, 0),
       do: quote(do: import(McpServer.Router, except: [resource: 2]))
  end

  @doc "Whether an argument was omitted, so that the options took its position."
  @spec missing?(term) :: boolean
  def missing?(argument), do: Keyword.keyword?(argument)
end
