defmodule McpServer.LimitsGuideTest do
  # The tables of guides/limits.md say what the code does.
  use McpServer.RouterCase, async: true

  alias McpServer.Connection.Options
  alias McpServer.DualResponse.Rest
  alias McpServer.Http.Mount
  alias McpServer.{HttpPlug, HttpServer, Limit, LimitsRouter}
  alias McpServer.Schema.Validator

  @moduletag timeout: 300_000
  @external_resource "guides/limits.md"
  @mebi 1024 * 1024
  @gibi 1024 * @mebi
  @byte_units %{"KiB" => 1024, "MiB" => @mebi, "GiB" => @gibi, nil => 1}
  @word_units %{"Mi" => @mebi, "Gi" => @gibi}

  # Option, default and largest value of each row, under the heading that the table stands below.
  defp tables do
    for section <- Regex.split(~r/^## /m, File.read!("guides/limits.md")),
        [_row, option, default, most] <- Regex.scan(~r/^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|/m, section),
        heading = section |> String.split("\n") |> hd() do
      {heading, option, number(default, option), number(most, option)}
    end
  end

  defp rows(heading), do: for({^heading, option, default, most} <- tables(), do: {option, default, most})

  # A number of words is not one of bytes.
  defp number(text, option) do
    units = if String.ends_with?(option, "_words"), do: @word_units, else: @byte_units
    [_all, digits | unit] = Regex.run(~r/^([\d_]+)(?: ([KMG]iB?))?$/, text)
    String.to_integer(String.replace(digits, "_", "")) * Map.fetch!(units, List.first(unit))
  end

  defp default(option, defaults),
    do: Enum.find_value(defaults, fn {name, value} -> to_string(name) == option && value end)

  defp served!(options) do
    {:ok, server} = HttpServer.start_link([router: LimitsRouter, port: 0] ++ options)
    GenServer.stop(server)
  end

  # As large as it says, and no larger.
  defp bounded(option, most, open) do
    name = Enum.find(names(), &(to_string(&1) == option)) || flunk("there is no option #{option}")
    open.([{name, most}])
    message = "expected #{inspect(name)} to be at most #{most}, got: #{most + 1}"
    assert_raise ArgumentError, message, fn -> open.([{name, most + 1}]) end
  end

  defp names, do: Mount.names() ++ Rest.Options.names() ++ Keyword.keys(HttpServer.limits()) ++ [:max_line_bytes]

  test "every limit of a message and of a call, and of HTTP" do
    {bounds, []} = Options.split([])
    defaults = Map.merge(Map.from_struct(%Mount{id: 1, router: 1, policy: 1, options: []}), bounds)
    own = Keyword.keys(HttpServer.limits())

    for heading <- ["Messages", "Calls", "HTTP"], {option, default, most} <- rows(heading) do
      cond do
        option == "max_line_bytes" ->
          assert {default, most} == {bounds.max_message_bytes, Limit.most(:bytes)}

        option in Enum.map(own, &to_string/1) ->
          assert {option, default(option, HttpServer.limits())} == {option, default}
          bounded(option, most, &served!/1)

        true ->
          assert {option, default(option, defaults)} == {option, default}
          bounded(option, most, &HttpPlug.init([router: LimitsRouter] ++ &1))
      end
    end

    named = for heading <- ["Messages", "Calls", "HTTP"], {option, _default, _most} <- rows(heading), do: option
    # But for how often a plug looks after its client, and options that limit nothing.
    assert Enum.map(Options.names(), &to_string/1) -- named == []
    assert Enum.map(own, &to_string/1) -- named == []
  end

  test "every limit of stored results" do
    defaults = Map.from_struct(struct(Rest, []))

    for {option, default, most} <- rows("Stored results") do
      unless option == "max_limit", do: assert({option, default(option, defaults)} == {option, default})
      bounded(option, most, &Rest.new([server: __MODULE__] ++ &1))
    end
  end

  test "every limit of schemas and templates" do
    rows = rows("Schemas and templates")
    {schema, template} = Enum.split(rows, length(Validator.limits()))

    assert for({option, _default, most} <- schema, do: {option, most}) ==
             for({name, most} <- Validator.limits(), do: {to_string(name), most})

    for {option, default, _most} <- schema, do: assert_default(option, default)
    assert Enum.map(template, &elem(&1, 0)) == ["max_bytes", "max_variables"]

    for {option, default, most} <- template do
      router!(resource(option, default))
      assert_refused(3, beyond(option, default), resource(option, default + 1))

      router!(resource(option, 1), limited(option, most))
      message = "expected :#{option} to be at most #{most}, got: #{most + 1}"
      assert_refused(2, message, resource(option, 1), limited(option, most + 1))
    end
  end

  defp limited(option, limit), do: ", template_limits: [#{option}: #{limit}]"
  defp resource(option, size), do: ~s(resource "r", "#{uri(option, size)}" do read McpServer.Handlers, :read end)

  # A schema that takes just as much as the default has room for, and one that takes one more.
  defp assert_default("max_bytes", default), do: assert_compiled(default, &described/1, "too_large")
  defp assert_default("max_depth", default), do: assert_compiled(default, &nested/1, "too_deep")
  defp assert_default("max_subschemas", default), do: assert_compiled(default, &wide/1, "too_many_subschemas")
  defp assert_default("max_refs_on_path", default), do: assert_compiled(default, &chain/1, "too_many_refs")

  defp assert_default("max_problems", default) do
    {:ok, validator} = Validator.compile(%{"items" => %{"type" => "string"}})
    {:error, error} = Validator.validate(validator, List.duplicate(0, default + 1))
    assert length(error.problems) == default
  end

  # How much of an expression fits, with the default and with its figure, and not with a hundredth less or more.
  defp assert_default("max_regex_bytes", default) do
    most = fn options -> largest(1, 100_000, &(kind(%{"pattern" => "[a-z]{#{&1}}"}, options) == :ok)) end
    expected = most.([])
    assert most.(max_regex_bytes: default) == expected
    assert most.(max_regex_bytes: div(default * 99, 100)) < expected
    assert most.(max_regex_bytes: div(default * 101, 100)) > expected
  end

  # Each item takes as many steps as any other: so much of a tenth of the steps, and ten times that of the default.
  defp assert_default("max_steps", default) do
    schema = %{"items" => wide(1_000, %{"minimum" => 0})}
    checks = fn validator, items -> Validator.validate(validator, List.duplicate(0, items)) == :ok end
    {:ok, tenth} = Validator.compile(schema, max_steps: div(default, 10))
    {:ok, validator} = Validator.compile(schema)
    most = largest(1, 100_000, &checks.(tenth, &1))
    assert checks.(validator, div(most * 10 * 99, 100))
    refute checks.(validator, div(most * 10 * 101, 100))
  end

  # The largest number that passes, between one that does and one that does not.
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
