defmodule McpServer.WireStructure do
  # The structure of messages from the official MCP schemas, without prose: one file per revision, one definition per
  # line. `bin/wire_schemas FOLDER` writes the files again.
  @moduledoc false

  alias McpServer.JSON

  @folder Path.expand("../fixtures/wire_schemas", __DIR__)
  @prose ["description", "title", "$comment", "examples"]
  # Keywords whose members are schemas by name. A property may be called "description".
  @named ["properties", "definitions", "$defs"]

  @doc "The revisions with a file."
  def revisions, do: for(file <- Enum.sort(File.ls!(@folder)), ".json" <- [Path.extname(file)], do: Path.rootname(file))

  @doc "The file of a revision."
  def file(revision), do: Path.join(@folder, revision <> ".json")

  @doc "Writes the files again from a folder of official ones, `<revision>/schema.json`."
  def write(official) do
    for revision <- File.ls!(official), source = Path.join([official, revision, "schema.json"]), File.exists?(source) do
      File.write!(file(revision), reduce(File.read!(source)))
    end
  end

  @doc "The reduced text of an official file."
  def reduce(text) do
    schema = JSON.decode!(text)
    member = if is_map_key(schema, "$defs"), do: "$defs", else: "definitions"
    lines = for {name, definition} <- Enum.sort(schema[member]), do: "#{JSON.encode!(name)}:#{encode(definition)}"
    ~s({"$schema":#{JSON.encode!(schema["$schema"])},"#{member}":{\n#{Enum.join(lines, ",\n")}\n}}\n)
  end

  defp encode(definition), do: definition |> without_prose() |> JSON.encode!()

  defp without_prose(schema) when is_map(schema) do
    for {keyword, value} <- Map.drop(schema, @prose), into: %{} do
      if keyword in @named,
        do: {keyword, Map.new(value, fn {name, schema} -> {name, without_prose(schema)} end)},
        else: {keyword, without_prose(value)}
    end
  end

  defp without_prose(schemas) when is_list(schemas), do: Enum.map(schemas, &without_prose/1)
  defp without_prose(value), do: value
end
