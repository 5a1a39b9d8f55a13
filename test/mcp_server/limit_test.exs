defmodule McpServer.LimitTest do
  # Each limit of each public function refuses invalid values, with a clear error.
  use ExUnit.Case, async: true

  alias McpServer.{DualResponse, HttpPlug, HttpServer, JSON, Limit, LimitsRouter, ServerOptions, Stdio}
  alias McpServer.DualResponse.Rest
  alias McpServer.Schema.Validator

  doctest McpServer.Limit

  @none [0, nil, -1, 1.0, "1", true, 1_000_000_000_000_000_000_000]

  defp open(:stdio, options), do: Stdio.start_link([router: LimitsRouter] ++ options)
  defp open(:http_server, options), do: stop(HttpServer.start_link([router: LimitsRouter, port: 0] ++ options))
  defp open(:http_plug, options), do: HttpPlug.init([router: LimitsRouter] ++ options)
  defp open(:rest, options), do: Rest.new([server: __MODULE__] ++ options)

  defp open(:dual_response, options),
    do: DualResponse.start_link([name: __MODULE__, base_url: "https://a.example"] ++ options)

  defp open(:json, options), do: JSON.decode("1", options)
  defp open(:schema, options), do: Validator.compile(%{}, options)

  defp stop({:ok, server}), do: GenServer.stop(server)

  # Each limit of a table, with its group.
  limits = fn table ->
    Enum.flat_map([{nil, table} | for({group, [{:group, inner} | _about]} <- table, do: {group, inner})], fn
      {group, table} -> for {name, [unit | about]} <- table, is_integer(about[:default]), do: {group, name, unit}
    end)
  end

  bare = &for {name, unit} <- &1, do: {nil, name, unit}

  @doors %{
    stdio: limits.(ServerOptions.stdio()),
    http_server: limits.(ServerOptions.http_server()),
    http_plug: limits.(ServerOptions.http_plug()),
    rest: limits.(Rest.Options.table()),
    dual_response: limits.(DualResponse.Options.table()),
    json: bare.(max_bytes: :bytes, max_depth: {:count, 100_000}, max_values: {:count, 100_000_000}),
    schema: bare.(Validator.limits())
  }

  # These options also accept other values.
  @others [:port, :default_sample_size, :default_expiration, :query_timeout]

  for {door, limits} <- @doors, {group, name, unit} <- limits, name not in @others do
    test "#{door}: #{group} #{name} is a positive integer, and none without end" do
      option = fn value ->
        if unquote(group), do: [{unquote(group), [{unquote(name), value}]}], else: [{unquote(name), value}]
      end

      for value <- [:infinity, Limit.most(unquote(Macro.escape(unit))) + 1 | @none] do
        message =
          "expected #{inspect(unquote(name))} to be #{Limit.text(unquote(Macro.escape(unit)))}, got: #{inspect(value)}"

        assert_raise ArgumentError, message, fn -> open(unquote(door), option.(value)) end
      end

      # A VM has one stdio transport, and a store has one server. A default page is at most as long as the longest page.
      if unquote(door) in [:http_server, :http_plug, :rest] and unquote(name) != :default_limit,
        do: open(unquote(door), option.(Limit.most(unquote(Macro.escape(unit)))))
    end
  end

  test "the longest time is as long as a timer can wait" do
    assert Limit.most(:milliseconds) == 0xFFFF_FFFF
    timer = Process.send_after(self(), :never, Limit.most(:milliseconds))
    assert is_integer(Process.cancel_timer(timer))
  end

  test "a heap is given to the VM in words, and never so small that it would be none" do
    word = :erlang.system_info(:wordsize)
    assert Limit.heap(1024 * 1024, true) == %{size: div(1024 * 1024, word), kill: true, error_logger: true}
    assert Limit.heap(1, false) == %{size: div(64 * 1024, word), kill: true, error_logger: false}
  end

  test "on_eof: is one of three" do
    message = "expected :on_eof to be :stop or :ignore or a function of no argument, got: :halt"
    assert_raise ArgumentError, message, fn -> Stdio.start_link(router: LimitsRouter, on_eof: :halt) end
  end

  test "query_timeout: ends, or is said to be without end" do
    for value <- [0, nil, -1] do
      message = "expected :query_timeout to be :infinity or #{Limit.text(:milliseconds)}, got: #{inspect(value)}"
      assert_raise ArgumentError, message, fn -> open(:dual_response, query_timeout: value) end
    end
  end
end
