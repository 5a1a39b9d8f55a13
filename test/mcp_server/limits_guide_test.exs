defmodule McpServer.LimitsGuideTest do
  # The tables of guides/limits.md say what the code does.
  use ExUnit.Case, async: true

  alias McpServer.Connection.Options
  alias McpServer.DualResponse.Rest
  alias McpServer.Http.Mount
  alias McpServer.{HttpPlug, HttpServer, Limit, LimitsRouter}
  alias McpServer.Schema.Validator

  @external_resource "guides/limits.md"
  @units %{"KiB" => 1024, "MiB" => 1024 * 1024, "GiB" => 1024 * 1024 * 1024, nil => 1}

  # Option, default and largest value of each row, under the heading that the table stands below.
  defp tables do
    for section <- Regex.split(~r/^## /m, File.read!("guides/limits.md")),
        [_row, option, default, most] <- Regex.scan(~r/^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|/m, section),
        heading = section |> String.split("\n") |> hd() do
      {heading, option, number(default), number(most)}
    end
  end

  defp rows(heading), do: for({^heading, option, default, most} <- tables(), do: {option, default, most})

  defp number(text) do
    [_all, digits | unit] = Regex.run(~r/^([\d_]+)(?: (KiB|MiB|GiB))?$/, text)
    String.to_integer(String.replace(digits, "_", "")) * @units[List.first(unit)]
  end

  defp default(option, defaults),
    do: Enum.find_value(defaults, fn {name, value} -> to_string(name) == option && value end)

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

    assert Enum.map(template, &elem(&1, 0)) == ["max_bytes", "max_variables"]
  end
end
