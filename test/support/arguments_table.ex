defmodule McpServer.ArgumentsTable do
  @moduledoc false
  # Calls of `McpServer.ArgumentsRouter`: the tool, its arguments, and the arguments of its function or the error text.

  @type row :: {tool :: String.t(), arguments :: map, got :: term | {:refused, [String.t()]}}

  @doc "All calls."
  @spec rows() :: [row]
  def rows, do: undeclared() ++ defaults() ++ integers() ++ casts() ++ forms()

  defp undeclared do
    [
      {"plain", %{"title" => "a"}, %{"title" => "a"}},
      {"plain", %{"titel" => "a"},
       refused(["/titel: `titel` is not an argument, is `title` meant? (additionalProperties)"])},
      {"plain", %{"evil" => true},
       refused(["/evil: `evil` is not an argument; allowed are `count`, `title` (additionalProperties)"])},
      {"defaults", %{"filter" => %{"stat" => "open"}},
       refused(["/filter/stat: `stat` is not an argument, is `state` meant? (additionalProperties)"])},
      {"drop", %{"title" => "a", "evil" => 1, "inside" => %{"a" => "b", "c" => 1}},
       %{"title" => "a", "inside" => %{"a" => "b"}}},
      {"drop", %{"closed" => %{"b" => 1}},
       refused(["/closed/b: `b` is not an argument; allowed are `a` (additionalProperties)"])},
      {"pass", %{"title" => "a", "more" => [1]}, %{"title" => "a", "more" => [1]}}
    ]
  end

  defp defaults do
    [
      {"defaults", %{}, %{"limit" => 10}},
      {"defaults", %{"limit" => 1, "filter" => %{}},
       %{"limit" => 1, "filter" => %{"state" => "open", "by" => %{"name" => "anyone"}}}},
      {"defaults", %{"lines" => [%{"text" => "a"}, %{"level" => 2}]},
       %{"limit" => 10, "lines" => [%{"text" => "a", "level" => 1}, %{"level" => 2}]}},
      {"whole", %{"either" => %{}}, %{"limit" => 10, "either" => %{}}}
    ]
  end

  # JSON has only one type of number.
  defp integers do
    [
      {"defaults", %{"limit" => 5.0}, %{"limit" => 5}},
      {"defaults", %{"limit" => -0.0}, %{"limit" => 0}},
      {"defaults", %{"limit" => 1.0e23}, %{"limit" => 99_999_999_999_999_991_611_392}},
      {"defaults", %{"lines" => [%{"text" => "a", "level" => 2.0}]},
       %{"limit" => 10, "lines" => [%{"text" => "a", "level" => 2}]}},
      {"whole", %{"limit" => 7.0, "either" => %{}}, %{"limit" => 7, "either" => %{}}},
      {"plain", %{"title" => "a", "count" => 3.0}, %{"title" => "a", "count" => 3}},
      {"plain", %{"title" => "a", "count" => 3.5}, refused(["/count: must be an integer (type)"])}
    ]
  end

  defp casts do
    naive = %{"naive" => ~N[2026-01-31 09:30:00]}
    uuid = "123e4567-e89b-12d3-a456-426614174000"

    [
      {"casts", %{"date" => "2024-02-29", "time" => "09:30"},
       Map.merge(naive, %{"date" => ~D[2024-02-29], "time" => ~T[09:30:00]})},
      {"casts", %{"time" => nil}, Map.put(naive, "time", nil)},
      {"casts", %{"time" => "09:30:00.5Z"}, Map.put(naive, "time", ~T[09:30:00.5])},
      {"casts", %{"datetime" => "2026-01-01T00:30:00+01:00"}, Map.put(naive, "datetime", ~U[2025-12-31 23:30:00Z])},
      {"casts", %{"naive" => "2026-01-31T09:30"}, naive},
      {"casts", %{"uuid" => String.upcase(uuid)}, Map.put(naive, "uuid", uuid)},
      {"casts", %{"uri" => "https://ada@example.com/notes?on=1#top"},
       Map.put(naive, "uri", URI.new!("https://ada@example.com/notes?on=1#top"))},
      {"casts", %{"days" => ["2026-01-31"], "inside" => %{"dates" => ["2026-02-01"]}},
       Map.merge(naive, %{"days" => [~D[2026-01-31]], "inside" => %{"dates" => [~D[2026-02-01]]}})},
      {"casts", %{"date" => "2026-02-30", "uuid" => "x"},
       refused([
         "/date: must be a date such as 2026-01-31 (format)",
         "/uuid: must be a UUID such as 123e4567-e89b-12d3-a456-426614174000 (format)"
       ])},
      {"casts", %{"time" => "09:30+02:00", "naive" => "2026-01-31T25:00"},
       refused([
         "/naive: must be a date and time without an offset such as 2026-01-31T09:30:00 (format)",
         "/time: must be a time of day without an offset such as 09:30:00 (format)"
       ])}
    ]
  end

  defp forms do
    alias McpServer.ArgumentsRouter.{Author, Note}

    [
      {"atoms", %{"title" => "a", "free" => %{"x" => 1}, "lines" => [%{"text" => "b", "y" => 2}]},
       %{title: "a", limit: 10, free: %{"x" => 1}, lines: [%{:text => "b", "y" => 2}]}},
      {"short", %{"title" => "a"}, %{title: "a", days: [~D[2026-01-31]]}},
      {"short", %{"titel" => "a"},
       refused(["/titel: `titel` is not an argument, is `title` meant? (additionalProperties)"])},
      {"struct", %{"title" => "a", "on" => "2026-01-31", "author" => %{"name" => "Ada"}},
       %Note{title: "a", on: ~D[2026-01-31], author: %Author{name: "Ada"}}}
    ]
  end

  defp refused(problems), do: {:refused, problems}
end
