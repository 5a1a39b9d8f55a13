defmodule McpServer.Connection.OptionsTest do
  use ExUnit.Case, async: true

  alias McpServer.Connection.Options

  test "every bound has a finite default" do
    {options, []} = Options.split([])
    assert %{max_calls: 64, max_waiting: 1_000, timeout: 60_000, input_timeout: 300_000, grace: 5_000} = options

    assert Enum.all?(Map.drop(options, [:callers, :assigns, :overload]), fn {_name, bound} ->
             is_integer(bound)
           end)
  end

  test "what is no bound is returned" do
    assert {%{max_calls: 3}, [router: R]} = Options.split(max_calls: 3, router: R)
  end

  test "infinity, zero and text are refused by name" do
    for value <- [:infinity, 0, -1, 1.5, "64", nil] do
      assert_raise ArgumentError, ~r/expected :max_calls to be a positive integer, got: /, fn ->
        Options.split(max_calls: value)
      end
    end
  end

  test "options that do not exist are refused by name" do
    assert_raise ArgumentError, ~r/unknown keys \[:max_call\]/, fn ->
      McpServer.Connection.start_link(router: R, transport: {C, nil}, max_call: 3)
    end
  end
end
