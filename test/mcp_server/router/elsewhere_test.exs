defmodule McpServer.Router.ElsewhereTest do
  # Fields from schemas of Ecto and NimbleOptions. The tests need neither package: their modules define the functions
  # that `use Ecto.Schema` defines.
  use McpServer.RouterCase, async: true

  alias McpServer.Test

  defmodule Author do
    defstruct [:name, :born]

    def __schema__(:fields), do: [:id, :name, :born]
    def __schema__(:redact_fields), do: []
    def __schema__(:autogenerate_id), do: {:id, :id, :binary_id}
    def __schema__(:autogenerate_fields), do: []
    def __schema__(:type, :name), do: :string
    def __schema__(:type, :born), do: :date
    def __schema__(:embed, _name), do: nil

    def changeset(%__MODULE__{}, %{}), do: %{required: [:name], validations: [name: {:length, [max: 9]}]}
  end

  defmodule Currency do
    def type, do: :string
  end

  defmodule Note do
    defstruct [:title]

    @types [
      id: :id,
      title: :string,
      stars: :integer,
      weight: :float,
      kind: {:parameterized, {Ecto.Enum, %{mappings: [draft: "d", final: "f"]}}},
      tags: {:array, :string},
      sizes: {:array, :integer},
      days: {:array, :date},
      due: :utc_datetime_usec,
      slug: :string,
      uid: Ecto.UUID,
      counts: {:map, :integer},
      currency: Currency,
      blob: :binary,
      author: {:parameterized, {Ecto.Embedded, %{}}},
      editors: {:parameterized, {Ecto.Embedded, %{}}},
      inserted_at: :naive_datetime
    ]

    def __schema__(:fields), do: Keyword.keys(@types)
    def __schema__(:redact_fields), do: []
    def __schema__(:autogenerate_id), do: {:id, :id, :id}
    def __schema__(:autogenerate_fields), do: [:inserted_at]
    def __schema__(:type, name), do: @types[name]
    def __schema__(:embed, :author), do: %{cardinality: :one, related: Author}
    def __schema__(:embed, :editors), do: %{cardinality: :many, related: Author}
    def __schema__(:embed, _name), do: nil

    def changeset(%__MODULE__{}, params) when params == %{} do
      validations = [
        currency: {:length, [is: 3, count: :bytes]},
        slug: {:format, ~r/(?=x)/},
        slug: {:format, ~r/\A[a-z]+\z/},
        sizes: {:subset, 1..3},
        tags: {:subset, ["red", "blue"]},
        tags: {:length, [min: 1, max: 5]},
        weight: {:number, [greater_than: 0.5]},
        stars: {:number, [greater_than_or_equal_to: 1, less_than: 6, message: "no"]},
        title: {:inclusion, ["a", "b"]},
        title: {:length, [min: 1, max: 80]}
      ]

      %{required: [:title], validations: validations}
    end

    def fails(_note, _params), do: raise("no database")
  end

  # As `mix phx.gen.context` of Phoenix 1.8 writes it.
  defmodule Scoped do
    defstruct [:title]

    @types [id: :id, title: :string, user_id: :id, shelf_id: :binary_id, uid: Ecto.UUID, pin_hash: :string]

    def __schema__(:fields), do: Keyword.keys(@types)
    def __schema__(:redact_fields), do: [:pin_hash]
    def __schema__(:autogenerate_id), do: {:id, :id, :id}
    def __schema__(:autogenerate_fields), do: []
    def __schema__(:type, name), do: @types[name]
    def __schema__(:embed, _name), do: nil

    def changeset(_scoped, _params, %{user: _user}), do: %{required: [:title], validations: []}
    def validations(_scoped, _params), do: %{required: [:title], validations: [title: {:length, [max: 9]}]}
  end

  defmodule Handlers do
    def show(_conn, arguments), do: inspect(arguments, limit: :infinity)
    def list(_conn, %{"by" => by}), do: {:ok, %{authors: [%{name: by["name"]}], best: nil, total: by["born"].year}}

    def read(_conn, _arguments),
      do: {:ok, %{title: "older", due: nil, kind: nil, author: %{name: "Ada Lovelace", born: nil}, tags: nil}}
  end

  defmodule Server do
    use McpServer.Router, lint: false

    tool "create", "Creates", Handlers, :show,
      input_schema: {McpServer.Ecto, Note, except: [:blob], descriptions: [title: "The title"]} do
      input notify: {:boolean, "Whether to send a mail"}
    end

    tool "move", "Moves", Handlers, :show, input_schema: {McpServer.Ecto, Note, only: [:id], changeset: false}
    tool "sign", "Signs", Handlers, :show, input_schema: {McpServer.Ecto, Author}
    tool "own", "Owns", Handlers, :show, input_schema: {McpServer.Ecto, Scoped, changeset: :validations}

    tool "give", "Gives", Handlers, :show,
      input_schema: {McpServer.Ecto, Scoped, only: [:user_id, :pin_hash], changeset: false}

    tool "clear", "Empties fields", Handlers, :show,
      input_schema:
        {McpServer.Ecto, Note,
         only: [:title, :due, :kind, :stars, :tags, :author, :editors, :counts, :slug],
         nullable: [:title, :due, :kind, :tags, :author, :editors, :counts]}

    tool "patch", "Changes fields", Handlers, :show,
      input_schema: {McpServer.Ecto, Note, only: [:title, :due], nullable: :optional}

    tool "list", "Lists authors", Handlers, :list do
      input by: {{McpServer.Ecto, Author}, "Of whom"}

      output authors: {[{McpServer.Ecto, Author, only: [:name]}], "The authors", required: true},
             best: {[{McpServer.Ecto, Author}, :null], "The best"},
             total: {:integer, "How many there are"}
    end

    tool "read", "Reads a note", Handlers, :read, output_schema: {McpServer.Ecto, Note, except: [:blob]}
    tool "find", "Finds a note", Handlers, :read, output_schema: {McpServer.Ecto, Note, only: [:id, :due, :inserted_at]}

    tool "rename", "Renames", Handlers, :show, arguments: :atoms do
      input_schema {McpServer.Ecto, Note, only: [:title, :stars], required: [:stars], changeset: false}
      output_schema {McpServer.Ecto, Author}
    end

    tool "nimble", "Takes options", Handlers, :show,
      arguments: :atoms,
      input_schema:
        {NimbleOptions,
         name: [type: :string, required: true, doc: "The name"],
         count: [type: :pos_integer, default: 3],
         ratio: [type: :float],
         mode: [type: {:in, ["a", "b"]}],
         size: [type: {:in, 1..3}],
         tags: [type: {:list, :string}],
         on: [type: {:struct, Date}],
         either: [type: {:or, [:string, nil]}],
         counts: [type: {:map, :string, :integer}],
         more: [type: :keyword_list, keys: [depth: [type: :non_neg_integer, default: 0]]]}
  end

  defp schema(name), do: Enum.find(Server.__mcp__(:tools), &(&1.name == name)).inputSchema

  test "ids of other tables and redacted fields are arguments only if they are named" do
    assert schema("own")["properties"] == %{
             "title" => %{"type" => "string", "maxLength" => 9},
             "uid" => %{"type" => "string", "format" => "uuid"}
           }

    assert schema("own")["required"] == ["title"]
    assert Map.keys(schema("give")["properties"]) == ["pin_hash", "user_id"]
  end

  test "the fields of a schema of Ecto, with what its changeset validates" do
    author = %{
      "type" => "object",
      "properties" => %{
        "name" => %{"type" => "string", "maxLength" => 9},
        "born" => %{"type" => "string", "format" => "date"}
      },
      "required" => ["name"],
      "additionalProperties" => false
    }

    assert schema("create") == %{
             "type" => "object",
             "required" => ["title"],
             "additionalProperties" => false,
             "properties" => %{
               "title" => %{
                 "type" => "string",
                 "description" => "The title",
                 "minLength" => 1,
                 "maxLength" => 80,
                 "enum" => ["a", "b"]
               },
               "stars" => %{"type" => "integer", "minimum" => 1, "exclusiveMaximum" => 6},
               "weight" => %{"type" => "number", "exclusiveMinimum" => 0.5},
               "kind" => %{"type" => "string", "enum" => ["draft", "final"]},
               "tags" => %{
                 "type" => "array",
                 "items" => %{"type" => "string", "enum" => ["red", "blue"]},
                 "minItems" => 1,
                 "maxItems" => 5
               },
               "sizes" => %{"type" => "array", "items" => %{"type" => "integer", "minimum" => 1, "maximum" => 3}},
               "days" => %{"type" => "array", "items" => %{"type" => "string", "format" => "date"}},
               "due" => %{"type" => "string", "format" => "date-time"},
               "slug" => %{"type" => "string", "pattern" => "^[a-z]+$"},
               "uid" => %{"type" => "string", "format" => "uuid"},
               "counts" => %{"type" => "object", "additionalProperties" => %{"type" => "integer"}},
               "currency" => %{"type" => "string", "maxLength" => 3},
               "author" => author,
               "editors" => %{"type" => "array", "items" => author},
               "notify" => %{"type" => "boolean", "description" => "Whether to send a mail"}
             }
           }

    assert schema("rename") == %{
             "type" => "object",
             "required" => ["stars"],
             "additionalProperties" => false,
             "properties" => %{"title" => %{"type" => "string"}, "stars" => %{"type" => "integer"}}
           }

    assert Enum.find(Server.__mcp__(:tools), &(&1.name == "rename")).outputSchema ==
             author
             |> Map.delete("additionalProperties")
             |> put_in(["properties", "name"], %{"type" => "string"})
             |> put_in(["properties", "born", "type"], ["string", "null"])
  end

  test "fields that may be null arrive as nil, and others count as missing" do
    properties = schema("clear")["properties"]

    assert properties["due"] == %{"type" => ["string", "null"], "format" => "date-time"}
    assert properties["kind"] == %{"type" => ["string", "null"], "enum" => ["draft", "final", nil]}
    assert %{"type" => ["array", "null"], "items" => %{"enum" => ["red", "blue"]}, "minItems" => 1} = properties["tags"]

    assert %{"type" => ["object", "null"], "required" => ["name"], "additionalProperties" => false} =
             properties["author"]

    assert %{"type" => ["array", "null"], "items" => %{"type" => "object"}} = properties["editors"]

    assert properties["counts"] == %{
             "type" => ["object", "null"],
             "additionalProperties" => %{"type" => "integer"}
           }

    assert properties["slug"]["type"] == "string"
    assert schema("patch")["properties"]["title"]["type"] == "string"
    assert schema("patch")["properties"]["due"]["type"] == ["string", "null"]

    for revision <- ["2025-11-25", "2026-07-28"] do
      called = fn arguments ->
        {:ok, %{"content" => [%{"text" => text}]}} = Test.call_tool(Server, "clear", arguments, revision: revision)
        text
      end

      null = Map.new(~w(title due kind tags author editors counts), &{&1, nil})
      assert called.(Map.merge(null, %{"stars" => nil, "slug" => nil})) == inspect(null)

      given = %{
        "title" => "a",
        "due" => "2026-01-31T09:30:00Z",
        "author" => %{"name" => "Ada", "born" => "1815-12-10"},
        "editors" => [%{"name" => "Ada"}]
      }

      assert called.(given) ==
               inspect(%{
                 given
                 | "due" => ~U[2026-01-31 09:30:00Z],
                   "author" => %{"name" => "Ada", "born" => ~D[1815-12-10]}
               })

      assert called.(%{given | "author" => %{"nama" => "Ada"}}) =~ "- /author/nama: `nama` is not an argument"
      assert called.(%{given | "title" => 5}) =~ "- /title: must be "
    end
  end

  test "what is generated is in every row, but not in arguments" do
    schema = Enum.find(Server.__mcp__(:tools), &(&1.name == "find")).outputSchema
    assert schema["required"] == ["id", "inserted_at"]
    assert schema["properties"]["id"]["type"] == "integer"
    assert schema["properties"]["due"]["type"] == ["string", "null"]
    refute is_map_key(schema("move"), "required")
  end

  test "a schema is the type of a field, and of the rows of a list" do
    tool = Enum.find(Server.__mcp__(:tools), &(&1.name == "list"))
    name = %{"type" => "string"}
    born = %{"type" => "string", "format" => "date"}

    assert tool.inputSchema["properties"]["by"] == %{
             "type" => "object",
             "description" => "Of whom",
             "properties" => %{"name" => Map.put(name, "maxLength", 9), "born" => born},
             "required" => ["name"],
             "additionalProperties" => false
           }

    assert tool.outputSchema["properties"] == %{
             "authors" => %{
               "type" => "array",
               "description" => "The authors",
               "items" => %{"type" => "object", "properties" => %{"name" => name}, "required" => ["name"]}
             },
             "best" => %{
               "type" => ["object", "null"],
               "description" => "The best",
               "properties" => %{"name" => name, "born" => %{born | "type" => ["string", "null"]}},
               "required" => ["name"]
             },
             "total" => %{"type" => "integer", "description" => "How many there are"}
           }

    by = %{"name" => "Ada", "born" => "1815-12-10"}

    assert {:ok, %{"structuredContent" => result}} = Test.call_tool(Server, "list", %{"by" => by})
    assert result == %{"authors" => [%{"name" => "Ada"}], "best" => nil, "total" => 1815}
  end

  test "what is empty in a result is null, and a row that is older than a validation is sent" do
    for revision <- ["2025-11-25", "2026-07-28"] do
      assert {:ok, %{"structuredContent" => note, "isError" => false}} =
               Test.call_tool(Server, "read", %{}, revision: revision)

      assert note == %{
               "title" => "older",
               "due" => nil,
               "kind" => nil,
               "author" => %{"name" => "Ada Lovelace", "born" => nil},
               "tags" => nil
             }
    end
  end

  test "the options of a schema of NimbleOptions" do
    assert schema("nimble") == %{
             "type" => "object",
             "required" => ["name"],
             "additionalProperties" => false,
             "properties" => %{
               "name" => %{"type" => "string", "description" => "The name"},
               "count" => %{"type" => "integer", "minimum" => 1, "default" => 3},
               "ratio" => %{"type" => "number"},
               "mode" => %{"type" => "string", "enum" => ["a", "b"]},
               "size" => %{"type" => "integer", "minimum" => 1, "maximum" => 3},
               "tags" => %{"type" => "array", "items" => %{"type" => "string"}},
               "on" => %{"type" => "string", "format" => "date"},
               "either" => %{"type" => ["string", "null"]},
               "counts" => %{"type" => "object", "additionalProperties" => %{"type" => "integer"}},
               "more" => %{
                 "type" => "object",
                 "properties" => %{"depth" => %{"type" => "integer", "minimum" => 0, "default" => 0}},
                 "additionalProperties" => false
               }
             }
           }
  end

  test "the arguments arrive as those of fields do, in both eras" do
    for revision <- ["2025-11-25", "2026-07-28"] do
      called = fn tool, arguments ->
        {:ok, %{"content" => [%{"text" => text}]}} = Test.call_tool(Server, tool, arguments, revision: revision)
        text
      end

      assert called.("create", %{"title" => "a", "editors" => [%{"name" => "Ada", "born" => "1815-12-10"}]}) ==
               inspect(%{"title" => "a", "editors" => [%{"name" => "Ada", "born" => ~D[1815-12-10]}]})

      tagged = &%{"title" => "a", "tags" => [&1]}
      assert called.("create", tagged.("red")) == inspect(tagged.("red"))
      assert called.("create", tagged.("green")) =~ "- /tags/0: "

      assert called.("create", %{"titel" => "a"}) =~ "- /titel: `titel` is not an argument, is `title` meant?"

      assert called.("nimble", %{"name" => "a", "on" => "2026-01-31", "more" => %{}}) ==
               inspect(%{name: "a", count: 3, on: ~D[2026-01-31], more: %{depth: 0}})
    end
  end

  # A database refuses them with an exception, which a model could not act on.
  test "numbers beyond the column of an id, and NUL characters, are refused" do
    assert schema("move")["properties"]["id"] == %{
             "type" => "integer",
             "minimum" => -9_223_372_036_854_775_808,
             "maximum" => 9_223_372_036_854_775_807
           }

    for revision <- ["2025-11-25", "2026-07-28"] do
      called = fn tool, arguments ->
        {:ok, %{"content" => [%{"text" => text}]}} = Test.call_tool(Server, tool, arguments, revision: revision)
        text
      end

      for id <- [-9_223_372_036_854_775_808, 9_223_372_036_854_775_807],
          do: assert(called.("move", %{"id" => id}) == inspect(%{"id" => id}))

      for id <- [-9_223_372_036_854_775_809, 9_223_372_036_854_775_808],
          do: assert(called.("move", %{"id" => id}) =~ "- /id: must be ")

      assert called.("sign", %{"name" => "A\na"}) == inspect(%{"name" => "A\na"})

      assert called.("sign", %{"name" => "A" <> <<0>>}) ==
               "Invalid arguments for tool 'sign':\n- /name: must be text without NUL characters (format)"
    end
  end

  test "the linter says where a missing description belongs" do
    server =
      router!(
        """
        tool "note", "A note", McpServer.Handlers, :echo, hints: [:read_only],
          input_schema: {McpServer.Ecto, #{inspect(Note)}, only: [:title, :author, :due], descriptions: [title: "Its title"]}

        tool "nimble", "Options", McpServer.Handlers, :echo, hints: [:read_only],
          input_schema: {NimbleOptions, name: [type: :string], on: [type: :string, doc: "The day"]}
        """,
        ", lint: false"
      )

    input = "/inputSchema/properties/"

    assert for(%{code: :missing_description} = found <- McpServer.Lint.run(server), do: {found.pointer, found.advice}) ==
             [
               {input <> "author",
                "Say in a sentence what it is for: `descriptions: [author: \"…\"]` of {McpServer.Ecto, …}."},
               {input <> "author/properties/born", "A field of an embed has no description: declare it with `input`."},
               {input <> "author/properties/name", "A field of an embed has no description: declare it with `input`."},
               {input <> "due",
                "Say in a sentence what it is for: `descriptions: [due: \"…\"]` of {McpServer.Ecto, …}."},
               {input <> "name", "Say in a sentence what it is for, with `doc:` of the option."}
             ]

    # The author has chosen the type, which always has its format.
    assert for(%{code: :format} = found <- McpServer.Lint.run(server), do: found.pointer) == []
  end

  test "what cannot be read is refused at its line" do
    tool = ~s(tool "t", "T", McpServer.Handlers, :echo, input_schema: )
    note = "McpServer.Router.ElsewhereTest.Note"
    refused = &assert_refused(3, &2, tool <> &1)

    refused.("{McpServer.Ecto, String}", "String: the module is no schema of Ecto. It needs `use Ecto.Schema`")
    refused.("{McpServer.Ecto, :note}", ":note: the schema of Ecto: there is no such module")
    refused.("{McpServer.Ecto, nil}", "nil: a schema of Ecto is the name of a module such as MyApp.Note")
    refused.("{McpServer.Ecto, \"x\"}", ~s("x": a schema of Ecto is the name of a module such as MyApp.Note))

    refused.(
      "{McpServer.Ecto, McpServer.Router.ElsewhereTest.Nota}",
      "McpServer.Router.ElsewhereTest.Nota: the schema of Ecto: there is no such module, did you mean #{note}?"
    )

    refused.(
      "{McpServer.Ecto, #{note}, only: [:titel]}",
      ~r/\A`only:` names :titel, which #{note} does not have, did you mean :title\? Its fields are: :id, :title, /
    )

    refused.(
      "{McpServer.Ecto, #{note}, nullable: [:titel]}",
      ~r/\A`nullable:` names :titel, which #{note} does not have, did you mean :title\? /
    )

    refused.(
      "{McpServer.Ecto, #{note}}",
      "the field :blob of #{note} has the type :binary, which no JSON has. Leave it out with `except: [:blob]`, and " <>
        "declare it with `input` if the tool needs it"
    )

    refused.(
      "{McpServer.Ecto, #{note}, changeset: :fails}",
      "#{note}.fails/2 cannot be called with an empty struct and no parameters (no database). Name another function, " <>
        "or write `changeset: false` and `required:`"
    )

    refused.(
      "{McpServer.Ecto, McpServer.Router.ElsewhereTest.Scoped}",
      "McpServer.Router.ElsewhereTest.Scoped.changeset/3 cannot be called without a scope, and there is no changeset/2. " <>
        "Name the function of a struct and parameters that has the validations, `changeset: :validations`, or write " <>
        "`changeset: false` and `required:`"
    )

    refused.(
      "{McpServer.Ecto, #{note}, except: [:blob], descriptions: %{titel: \"The title\"}}",
      ~r/\A`descriptions:` names :titel, which #{note} does not have, did you mean :title\?/
    )

    for {option, value} <- [required: "[:stars]", nullable: "[:stars]"] do
      refused.(
        "{McpServer.Ecto, #{note}, only: [:title], changeset: false, #{option}: #{value}}",
        "`#{option}:` names :stars, which is not among the fields that are taken from #{note}. Name it in `only:` too, or " <>
          "remove it from `#{option}:`"
      )
    end

    refused.("{McpServer.Ecto, #{note}, onyl: [:title]}", ~r/unknown keys \[:onyl\]/)

    refused.(
      "{NimbleOptions, [pid: [type: :pid]]}",
      "the option :pid has the type :pid, which no JSON has. Leave it out of the schema for the tool, or declare the " <>
        "argument with `input`"
    )

    refused.(
      "{Zoi, :note}",
      ~s(the input_schema of tool "t" is declared elsewhere, by Zoi, which cannot be read. Write a JSON Schema, ) <>
        "{McpServer.Ecto, MyApp.Note, only: [:title]} or {NimbleOptions, [title: [type: :string]]}"
    )
  end
end
