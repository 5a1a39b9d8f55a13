defmodule McpServer.Properties do
  # Properties checked with PropEr (Debian's `erlang-proper`), which may not be installed.
  #
  #     use McpServer.Properties
  #
  #     if McpServer.Properties.available?(__MODULE__) do
  #       test "…", do: holds(:proper.forall(type, fun), 200)
  #     end
  @moduledoc false

  import ExUnit.Assertions

  defmacro __using__(options) do
    quote do
      import McpServer.Properties, only: unquote(options[:only] || [holds: 2, holds: 3])
      @compile {:no_warn_undefined, [:proper, :proper_types, :proper_unicode]}
    end
  end

  @doc "Whether PropEr is installed. If not, prints the module whose properties are skipped."
  def available?(module) do
    case :code.lib_dir(:proper) do
      {:error, :bad_name} ->
        IO.puts(:stderr, "#{inspect(module)}: properties are skipped, PropEr is not installed")
        false

      library ->
        Code.prepend_path(Path.join(library, "ebin"))
        Code.ensure_loaded?(:proper)
    end
  end

  @doc "Checks a property `runs` times. `MCP_SCALE=20 mix test …` multiplies `runs` by 20."
  def holds(property, runs, max_size \\ 30) do
    runs = runs * String.to_integer(System.get_env("MCP_SCALE", "1"))
    # Called with `apply/3`, because PropEr is not a dependency and may be missing.
    assert apply(:proper, :quickcheck, [property, [:quiet, :noshrink, max_size: max_size, numtests: runs]]) == true
  end
end
