defmodule McpServer.Protocol.BatchBudgetTest do
  # A check of arguments may take as many steps as a schema allows. The calls of a batch share them, so that a message of
  # some kilobytes cannot occupy a scheduler for seconds.
  use ExUnit.Case, async: true

  alias McpServer.{Catalog, Protocol}

  defmodule Handlers do
    @moduledoc false
    def run(_conn, _arguments), do: {:ok, "done"}
  end

  defmodule Router do
    @moduledoc false
    use McpServer.Router, name: "steps"

    schema = %{
      "type" => "object",
      "properties" => %{
        "text" => %{"type" => "string", "pattern" => "a.{0,50}b$"},
        "n" => %{"type" => "integer"}
      }
    }

    tool "slow", "Its arguments take many steps", Handlers, :run, input_schema: schema
    tool "strict", "One of them is required", Handlers, :run, input_schema: Map.put(schema, "required", ["n"])
    tool "mending", "They are repaired, too", Handlers, :run, input_schema: schema, repair: true
  end

  # About a third of the steps.
  @text String.duplicate("a", 4_000) <> "b"
  @too_long "must be a value simple enough to be checked against the schema"

  defp admitted(calls) do
    messages =
      for {{tool, arguments}, id} <- Enum.with_index(calls) do
        %{
          "jsonrpc" => "2.0",
          "id" => id,
          "method" => "tools/call",
          "params" => %{"name" => tool, "arguments" => arguments}
        }
      end

    {:batch, outcomes} =
      Protocol.admit(
        Catalog.fetch(Router),
        %{revision: "2025-03-26"},
        McpServer.JSON.encode!(messages),
        Protocol.limits(%{})
      )

    for outcome <- outcomes do
      case outcome do
        {:request, _request} -> :called
        {:reply, reply} -> if IO.iodata_to_binary(reply) =~ @too_long, do: :too_long, else: :invalid
      end
    end
  end

  test "have the steps of one check together" do
    slow = {"slow", %{"text" => @text}}
    for _ <- 1..3, do: assert(admitted([slow]) == [:called])
    assert admitted([slow, slow, slow, slow]) == [:called, :called, :too_long, :too_long]
    # Then even a quick check is too long.
    quick = {"slow", %{"n" => 1}}

    assert admitted([quick, slow, quick, slow, slow, quick]) == [
             :called,
             :called,
             :called,
             :called,
             :too_long,
             :too_long
           ]
  end

  test "spend them on the search for problems, too" do
    invalid = {"slow", %{"text" => @text <> "c"}}
    assert admitted([invalid]) == [:invalid]
    assert admitted([invalid, invalid, invalid]) == [:invalid, :too_long, :too_long]
  end

  # A missing member is noticed at once, and the pattern only in the search.
  test "spend them on a search that is longer than the check" do
    text = String.duplicate("a", 400) <> "c"
    outcomes = admitted(List.duplicate({"strict", %{"text" => text}}, 50))
    assert [{:invalid, few}, {:too_long, many}] = outcomes |> Enum.chunk_by(& &1) |> Enum.map(&{hd(&1), length(&1)})
    assert few in 10..30
    assert few + many == 50
  end

  test "spend them on repairs, too" do
    mended = {"mending", %{"text" => @text, "n" => "1"}}
    assert admitted([mended]) == [:called]
    assert admitted(List.duplicate(mended, 5)) == [:called, :invalid, :too_long, :too_long, :too_long]
  end

  test "of quick checks are not refused, however many they are" do
    calls = for n <- 1..50, do: {"slow", %{"n" => n, "text" => "aab"}}
    assert admitted(calls) == List.duplicate(:called, 50)
  end
end
