defmodule McpServer.PropertiesTest do
  # Not async: sets `MCP_SEED`.
  use ExUnit.Case
  use McpServer.Properties

  import ExUnit.CaptureIO

  alias McpServer.Properties

  setup do
    variables = Map.new(["MCP_SEED", "MCP_SCALE"], &{&1, System.get_env(&1)})
    Enum.each(variables, fn {name, _value} -> System.delete_env(name) end)
    on_exit(fn -> System.put_env(variables) end)
  end

  test "the seed is 1 unless another is asked for" do
    Properties.choose_seed()
    assert Properties.seed() == 1
    System.put_env("MCP_SEED", "7")
    assert capture_io(&Properties.choose_seed/0) == ""
    assert Properties.seed() == 7
    System.put_env("MCP_SEED", "random")
    assert capture_io(&Properties.choose_seed/0) == "MCP_SEED=#{Properties.seed()}\n"
  end

  if McpServer.Installed.here?(:proper) do
    @tag McpServer.Installed.tags(:proper)
    test "the input follows the seed, in every property of a test" do
      [first, second] = for _ <- 1..2, do: input()
      assert length(Enum.uniq(first)) > 50
      assert first == second
      System.put_env("MCP_SEED", "7")
      assert input() != first
    end

    @tag McpServer.Installed.tags(:proper)
    test "a property changes no random numbers of its test" do
      for property? <- [true, false], reduce: nil do
        other ->
          :rand.seed(:exsss, 3)
          if property?, do: input()
          number = :rand.uniform(1_000_000)
          assert other in [nil, number]
          number
      end
    end

    @tag McpServer.Installed.tags(:proper)
    test "a failure has the input, the exception, and what generates it again" do
      System.put_env("MCP_SCALE", "2")
      integer = :proper_types.integer()
      assert failure(forall({"é", integer}, fn {_text, number} -> number < 5 end)) =~ ~s([{"é", 5}]\n)

      message = failure(forall(integer, fn number -> number < 5 or raise("too large") end))
      assert message =~ "MCP_SEED=1 MCP_SCALE=2 generates this input again:\n[5]\n** (RuntimeError) too large\n"
      assert message =~ "test/properties_test.exs:"
    end

    defp failure(property), do: assert_raise(ExUnit.AssertionError, fn -> holds(property, 500) end).message

    # What a property is given.
    defp input do
      test = self()
      holds(forall(:proper_types.list(:proper_types.float()), &match?({:input, _}, send(test, {:input, &1}))), 100)

      for _ <- 1..100 do
        assert_received {:input, input}
        input
      end
    end
  end
end
