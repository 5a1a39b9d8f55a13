defmodule McpServer.WireStructure do
  # What the official schemas of MCP say of the form of messages, without their prose: one file a revision, one
  # definition a line. `bin/wire_schemas FOLDER` writes the files anew.
  @moduledoc false

  alias McpServer.JSON

  @folder Path.expand("../fixtures/wire_schemas", __DIR__)
  @prose ["description", "title", "$comment", "examples"]
  # Keywords that hold schemas by name: a property may be called "description".
  @named ["properties", "definitions", "$defs"]

  @doc "The revisions whose structure is kept."
  def revisions, do: for(file <- Enum.sort(File.ls!(@folder)), ".json" <- [Path.extname(file)], do: Path.rootname(file))

  @doc "The file of that revision."
  def file(revision), do: Path.join(@folder, revision <> ".json")

  @doc "Writes the files anew from a folder of official ones, `<revision>/schema.json`."
  def write(official) do
    for revision <- File.ls!(official), source = Path.join([official, revision, "schema.json"]), File.exists?(source) do
      File.write!(file(revision), reduce(File.read!(source)))
    end
  end

  @doc "The text of a reduced file, given that of an official one."
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
