defmodule McpServer.LimitsGuideTest do
  # The tables of guides/limits.md match the code.
  use McpServer.RouterCase, async: true

  alias McpServer.DualResponse.Rest
  alias McpServer.{Limit, Options, ServerOptions}
  alias McpServer.Schema.Validator

  @moduletag timeout: 300_000
  @external_resource "guides/limits.md"
  @mebi 1024 * 1024
  @byte_units %{"KiB" => 1024, "MiB" => @mebi, "GiB" => 1024 * @mebi, nil => 1}

  # The text between the guide's markers, by the marker's name.
  defp generated do
    stdio = ServerOptions.stdio()
    server = ServerOptions.http_server()
    plug = ServerOptions.http_plug()
    both = shared(group(stdio, :limits), group(server, :limits))
    {calls, messages} = Enum.split_while(both, fn {name, _rule} -> name != :max_depth end)
    {[{:max_message_bytes, _} = line], stdio_calls} = Enum.split(group(stdio, :limits) -- both, 1)
    {[{:max_message_bytes, _} = body], http_calls} = Enum.split(group(server, :limits) -- both, 1)
    http = shared(group(server, :http), group(plug, :http))

    %{
      "messages" => [line, body | messages],
      "calls" => [{:timeout, stdio[:timeout]}, {:drain, stdio[:drain]} | calls] ++ stdio_calls ++ http_calls,
      "http" => [{:drain, server[:drain]} | http],
      "sockets" => group(server, :http) -- http,
      "plug" => group(plug, :http) -- http,
      "stored" => Rest.Options.table()
    }
  end

  defp shared(one, other), do: one -- one -- other

  defp group(table, name) do
    [{:group, inner} | _about] = table[name]
    inner
  end

  # `MCP_WRITE_GUIDE=1` writes the tables instead of comparing them.
  test "the tables of options are those of the code" do
    guide = File.read!("guides/limits.md")

    written =
      Enum.reduce(generated(), guide, fn {name, table}, guide ->
        assert guide =~ "<!-- options: #{name} -->"
        between = ~r/(<!-- options: #{name} -->\n\n).*?(\n<!-- end -->)/s
        Regex.replace(between, guide, fn _all, head, tail -> head <> Options.limits(table) <> tail end)
      end)

    if System.get_env("MCP_WRITE_GUIDE"), do: File.write!("guides/limits.md", written)

    assert System.get_env("MCP_WRITE_GUIDE") || guide == written,
           "guides/limits.md is stale: run MCP_WRITE_GUIDE=1 mix test test/mcp_server/limits_guide_test.exs"
  end

  # Option, default and maximum of each row of the handwritten tables.
  defp rows(heading) do
    [_before, section] = String.split(File.read!("guides/limits.md"), "\n## #{heading}\n")
    [section | _others] = String.split(section, "\n## ")

    for [_row, option, default, most] <- Regex.scan(~r/^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|/m, section),
        do: {option, number(default), number(most)}
  end

  defp number(text) do
    [_all, digits | unit] = Regex.run(~r/^([\d_]+)(?: ([KMG]iB))?$/, text)
    String.to_integer(String.replace(digits, "_", "")) * Map.fetch!(@byte_units, List.first(unit))
  end

  @tag slow: "compiles a router on both sides of each limit"
  test "every limit of schemas and templates" do
    rows = rows("Schemas and templates")
    {schema, template} = Enum.split(rows, length(Validator.limits()))

    assert for({option, _default, most} <- schema, do: {option, most}) ==
             for({name, unit} <- Validator.limits(), do: {to_string(name), Limit.most(unit)})

    for {option, default, _most} <- schema, do: assert_default(option, default)
    assert Enum.map(template, &elem(&1, 0)) == ["max_bytes", "max_variables"]

    for {option, default, most} <- template do
      router!(resource(option, default))
      assert_refused(3, beyond(option, default), resource(option, default + 1))

      router!(resource(option, 1), limited(option, most))
      unit = if option == "max_bytes", do: :bytes, else: :count
      message = "expected :#{option} to be #{Limit.text({unit, most})}, got: #{most + 1}"
      assert_refused(2, message, resource(option, 1), limited(option, most + 1))
    end
  end

  defp limited(option, limit), do: ", template_limits: [#{option}: #{limit}]"
  defp resource(option, size), do: ~s(resource "r", "#{uri(option, size)}" do read McpServer.Handlers, :read end)

  # A schema that just fits the default, and a schema that exceeds it by one.
  defp assert_default("max_bytes", default), do: assert_compiled(default, &described/1, "too_large")
  defp assert_default("max_depth", default), do: assert_compiled(default, &nested/1, "too_deep")
  defp assert_default("max_subschemas", default), do: assert_compiled(default, &wide/1, "too_many_subschemas")
  defp assert_default("max_refs_on_path", default), do: assert_compiled(default, &chain/1, "too_many_refs")

  defp assert_default("max_problems", default) do
    {:ok, validator} = Validator.compile(%{"items" => %{"type" => "string"}})
    {:error, error} = Validator.validate(validator, List.duplicate(0, default + 1))
    assert length(error.problems) == default
  end

  # The same largest expression fits with the default and with its number. A hundredth less or more changes it.
  defp assert_default("max_regex_bytes", default) do
    most = fn options -> largest(1, 100_000, &(kind(%{"pattern" => "[a-z]{#{&1}}"}, options) == :ok)) end
    expected = most.([])
    assert most.(max_regex_bytes: default) == expected
    assert most.(max_regex_bytes: div(default * 99, 100)) < expected
    assert most.(max_regex_bytes: div(default * 101, 100)) > expected
  end

  # Each item takes the same number of steps, so ten times the steps allow ten times the items.
  defp assert_default("max_steps", default) do
    schema = %{"items" => wide(1_000, %{"minimum" => 0})}
    checks = fn validator, items -> Validator.validate(validator, List.duplicate(0, items)) == :ok end
    {:ok, tenth} = Validator.compile(schema, max_steps: div(default, 10))
    {:ok, validator} = Validator.compile(schema)
    most = largest(1, 100_000, &checks.(tenth, &1))
    assert checks.(validator, div(most * 10 * 99, 100))
    refute checks.(validator, div(most * 10 * 101, 100))
  end

  # The largest passing number, by bisection between a passing and a failing number.
  defp largest(low, high, _passes?) when high - low == 1, do: low

  defp largest(low, high, passes?) do
    middle = div(low + high, 2)
    if passes?.(middle), do: largest(middle, high, passes?), else: largest(low, middle, passes?)
  end

  defp assert_compiled(default, schema, kind) do
    assert kind(schema.(default)) == :ok
    assert kind(schema.(default + 1)) == kind
  end

  defp kind(schema, options \\ []) do
    case Validator.compile(schema, options) do
      {:ok, _validator} -> :ok
      {:error, %{problems: [%{keyword: kind}]}} -> kind
    end
  end

  defp described(bytes), do: %{"description" => String.duplicate("x", bytes - byte_size(~s({"description":""})))}
  defp nested(levels), do: Enum.reduce(2..levels, %{}, fn _level, inner -> %{"not" => inner} end)
  defp wide(subschemas, each \\ %{}), do: %{"allOf" => List.duplicate(each, subschemas - 1)}

  defp chain(references) do
    steps = for n <- 1..(references - 1), into: %{}, do: {"d#{n}", %{"$ref" => "#/$defs/d#{n + 1}"}}
    %{"$ref" => "#/$defs/d1", "$defs" => Map.put(steps, "d#{references}", %{})}
  end

  defp uri("max_bytes", bytes), do: String.pad_trailing("x://{a}/", max(bytes, 8), "x")
  defp uri("max_variables", variables), do: "x://" <> Enum.map_join(1..variables, "/", &"{v#{&1}}")

  defp beyond("max_bytes", most), do: ~s(resource template "r": uriTemplate: the template has more than #{most} bytes)

  defp beyond("max_variables", most),
    do: ~s(resource template "r": uriTemplate: the template has more than #{most} variables)
end
