defmodule McpServer.DualResponse.Store.EctoTermTest do
  # Terms survive a round trip through PostgreSQL's `jsonb`.
  use ExUnit.Case, async: true
  use McpServer.Properties

  alias McpServer.{JSON, Postgres, PostgresRepo}
  alias McpServer.DualResponse.Store.Ecto.Term

  @moduletag McpServer.Installed.tags(:postgresql)

  setup_all do
    start_supervised!({PostgresRepo, folder: Postgres.folder(), size: 1, name: __MODULE__})
    :ok
  end

  # All terms in one statement.
  defp through_postgres(terms) do
    text = "[" <> Enum.map_join(terms, ",", &Term.dump!/1) <> "]"
    sql = "SELECT value::text FROM jsonb_array_elements($1::text::jsonb) WITH ORDINALITY ORDER BY ordinality"
    {:ok, %{rows: rows}} = PostgresRepo.query(sql, [text], pool: __MODULE__)
    for [text] <- rows, do: Term.load!(text)
  end

  @tag req: "S1-40"
  test "what JSON tells is itself" do
    for {term, text} <- [
          {%{"a" => [1, -1, 1.5, true, false, nil, "é", "\n"]}, ~s({"a":[1,-1,1.5,true,false,null,"é","\\n"]})},
          {%{state: "NJ"}, ~s({"$atoms":{"state":"NJ"}})},
          {[:asc, %{}, []], ~s([{"$atom":"asc"},{},[]])},
          {nil, "null"}
        ] do
      assert Term.dump!(term) == text
      assert Term.load!(text) === term
    end
  end

  @tag req: "S1-40"
  test "what JSON or PostgreSQL would change is marked" do
    for term <- [
          {1, 2},
          ~D[2025-01-15],
          "zero\0byte",
          <<0xFF>>,
          <<1::3>>,
          1.0e15,
          -1.0e300,
          [1 | 2],
          %{1 => 2},
          %{"$atom" => "x"},
          %{"$" => 1},
          %{"a" => 1, b: 2},
          %{"a\0" => 1},
          Integer.pow(10, 1000)
        ] do
      assert {:ok, %{"$term" => _external}} = term |> Term.dump!() |> JSON.decode()
      assert through_postgres([term]) === [term]
    end
  end

  @tag req: "S1-40"
  test "numbers at the edges come back exactly" do
    numbers =
      [0.0, 0.1, 1.0e-7, 5.0e-324, 2.2250738585072014e-308, 999_999_999_999_999.9, 1.0e14, -1.5, 1.0e22] ++
        [Integer.pow(10, 1000) - 1, -Integer.pow(10, 1000) + 1, Integer.pow(2, 64)]

    assert through_postgres(numbers) === numbers
    assert [zero] = through_postgres([-0.0])
    assert <<zero::float>> == <<-0.0::float>>
  end

  @tag req: "S1-40"
  test "terms of any depth come back" do
    for depth <- [49, 50, 51, 200, 5_000] do
      lists = Enum.reduce(1..depth, 1, fn _, term -> [term] end)
      maps = Enum.reduce(1..depth, 1, fn _, term -> %{a: term} end)
      assert through_postgres([lists, maps]) === [lists, maps]
    end
  end

  if McpServer.Installed.here?(:proper) do
    @tag req: "S1-40"
    @tag McpServer.Installed.tags(:proper)
    test "any term comes back as it was" do
      terms = :proper_types.list(term())
      property = forall(terms, fn terms -> through_postgres(terms) === terms end)
      holds(property, 200, 14)
    end

    defp term, do: :proper_types.sized(&term/1)
    defp term(size) when size < 2, do: scalar()

    defp term(size) do
      inner = :proper_types.resize(div(size, 3), :proper_types.lazy(fn -> term(div(size, 3)) end))
      key = :proper_types.oneof([:proper_unicode.utf8(5), :proper_types.oneof([:a, :b, :"$c", nil]), scalar()])

      :proper_types.frequency([
        {2, scalar()},
        {1, :proper_types.list(inner)},
        {1, :proper_types.bind(:proper_types.list(inner), &List.to_tuple/1, false)},
        {2, :proper_types.bind(:proper_types.list({key, inner}), &Map.new/1, false)}
      ])
    end

    defp scalar do
      :proper_types.oneof([
        :proper_types.integer(),
        :proper_types.largeint(),
        :proper_types.float(),
        :proper_types.binary(),
        :proper_unicode.utf8(12),
        :proper_types.oneof([nil, true, false, :asc, :é, "$atom", ~D[2025-01-15], ~U[2025-01-15 10:30:00Z]])
      ])
    end
  end
end
