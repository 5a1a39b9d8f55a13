defmodule McpServer.Schema.FormatsTest do
  use ExUnit.Case, async: true

  alias McpServer.Schema.{Error, Validator}

  # A valid string of each format, and an invalid string that a model might send.
  @known %{
    "date" => {"2026-01-31", "2026-02-30"},
    "date-time" => {"2026-01-31T09:30:00Z", "2026-01-31T09:30:00"},
    "duration" => {"PT1H30M", "90 minutes"},
    "email" => {"ada@example.com", "ada"},
    "hostname" => {"example.com", "example com"},
    "ipv4" => {"192.0.2.1", "192.0.2.256"},
    "ipv6" => {"2001:db8::1", "2001:db8"},
    "iri" => {"https://example.com/é", "/é"},
    "iri-reference" => {"../é", "a b"},
    "json-pointer" => {"/a/0", "a/0"},
    "regex" => {"^a+$", "a("},
    "relative-json-pointer" => {"1/a", "/a"},
    "time" => {"09:30:00Z", "09:30"},
    "uri" => {"https://example.com/path", "example.com/path"},
    "uri-reference" => {"../path", "a b"},
    "uri-template" => {"/users/{id}", "/users/{id"},
    "uuid" => {"123e4567-e89b-12d3-a456-426614174000", "123e4567"}
  }

  defp accepts?(schema, value, options) do
    {:ok, validator} = Validator.compile(schema, options)
    Validator.validate(validator, value) == :ok
  end

  test "each known format is asserted where that is asked for, and only there" do
    for {format, {good, bad}} <- @known, schema = %{"format" => format} do
      for options <- [[formats: :assert], [formats: [format]]] do
        assert {format, accepts?(schema, good, options)} == {format, true}
        assert {format, accepts?(schema, bad, options)} == {format, false}
        assert accepts?(schema, 1, options)
      end

      for options <- [[], [formats: :annotate], [formats: []], [formats: Map.keys(@known) -- [format]]] do
        assert {format, accepts?(schema, bad, options)} == {format, true}
      end
    end
  end

  test "internationalised and unknown names stay annotations" do
    for format <- ["idn-email", "idn-hostname", "colour", ""],
        do: assert(accepts?(%{"format" => format}, "?", formats: :assert))
  end

  test "a list names known formats only, and formats are a list or one of two atoms" do
    for name <- ["idn-email", "Date", "colour"] do
      assert {:error, %Error{kind: :schema, problems: [%{keyword: "unknown_format", message: message}]}} =
               Validator.compile(%{}, formats: [name])

      assert message =~ ~s(unknown format "#{name}"; known are date, date-time,)
    end

    for formats <- [:strict, "date", [:date], %{}, true],
        do: assert_raise(ArgumentError, ~r/formats are/, fn -> Validator.compile(%{}, formats: formats) end)
  end

  @tag req: "M16"
  test "the problem says what the format looks like, and not what was received" do
    {:ok, validator} = Validator.compile(%{"properties" => %{"on" => %{"format" => "date"}}}, formats: :assert)
    {:error, error} = Validator.validate(validator, %{"on" => "hunter2"})
    assert Exception.message(error) == "/on: must be a date such as 2026-01-31 (format)"
    assert [%{keyword: "format", pointer: "/on", expected: "a date such as 2026-01-31"}] = error.problems
    refute inspect(error) =~ "hunter2"
  end
end
