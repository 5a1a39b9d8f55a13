defmodule Corpora.Schemas do
  # The JSON Schema Test Suite, through `McpServer.Schema.Validator`. Its remote documents are passed in, not fetched.

  alias McpServer.JSON
  alias McpServer.Schema.Validator

  # The folder, and the default for `$schema` where the suite has none.
  @drafts [
    {"draft2020-12", "https://json-schema.org/draft/2020-12/schema"},
    {"draft2019-09", "https://json-schema.org/draft/2019-09/schema"},
    {"draft7", "http://json-schema.org/draft-07/schema#"},
    {"draft6", "http://json-schema.org/draft-06/schema#"},
    {"draft4", "http://json-schema.org/draft-04/schema#"}
  ]

  # Folders of remotes in unsupported dialects.
  @others ~w(draft3 v1)

  def rows(folder) do
    suite = Path.join(folder, "JSON-Schema-Test-Suite")
    remotes = remotes(suite)

    for {draft, dialect} <- @drafts,
        {part, files, formats} <- [
          {"", "*.json", :annotate},
          {", optional", "optional/*.json", :annotate},
          {", formats", "optional/format/*.json", :assert}
        ] do
      results =
        for file <- [suite, "tests", draft, files] |> Path.join() |> Path.wildcard(),
            group <- JSON.decode!(File.read!(file)),
            result <- group(Path.basename(file, ".json"), group, dialect, documents: remotes, formats: formats),
            do: result

      {"JSON-Schema-Test-Suite #{draft}#{part}", results}
    end
  end

  # The suite's documents with their addresses. Documents in a draft's folder use that draft.
  defp remotes(suite) do
    root = Path.join(suite, "remotes")

    for file <- Path.wildcard(Path.join(root, "**/*.json")),
        name = Path.relative_to(file, root),
        folder = hd(Path.split(name)),
        folder not in @others,
        into: %{} do
      document = JSON.decode!(File.read!(file))
      dialect = for {^folder, dialect} <- @drafts, do: dialect
      {"http://localhost:1234/" <> name, Enum.reduce(dialect, document, &with_dialect(&2, &1))}
    end
  end

  defp group(file, %{"schema" => schema, "tests" => tests, "description" => group}, dialect, options) do
    compiled = Validator.compile(with_dialect(schema, dialect), options)
    for test <- tests, do: {"#{file}: #{group}: #{test["description"]}", judge(compiled, test)}
  end

  defp with_dialect(%{} = schema, dialect), do: Map.put_new(schema, "$schema", dialect)
  defp with_dialect(schema, _dialect), do: schema

  defp judge({:error, error}, _test), do: "refused: #{Exception.message(error)}"

  defp judge({:ok, validator}, %{"data" => data, "valid" => valid}) do
    case {Validator.validate(validator, data) == :ok, valid} do
      {same, same} -> :passed
      {true, false} -> "accepted"
      {false, true} -> "rejected"
    end
  end
end
