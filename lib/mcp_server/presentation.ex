defmodule McpServer.Presentation do
  @moduledoc """
  Results for people and programs: Markdown, and the same content as data of a declared kind.

  A module declares the kinds of data that tools return:

      defmodule MyApp.Books.View do
        use McpServer.Presentation, index: "book-index", card: "book-card"

        kind "bookList:v1",
          properties: [
            genre: [type: "string"],
            books: [type: "array", items: [type: "object", properties: [title: [type: "string"], author: [type: "string"]]]]
          ],
          required: ["books"]
      end

  A handler presents data of a kind:

      def books(_conn, arguments) do
        Presentation.respond(View, arguments, fn format ->
          with {:ok, books} <- Shop.books(arguments["genre"]) do
            payload = %{"genre" => arguments["genre"], "books" => books}
            Presentation.present(View, "bookList:v1", payload, format: format, markdown: fn -> list(books) end)
          end
        end)
      end

  ## Formats

  The tool's argument `format` selects the format. The default is Markdown, and other names are refused:

  | `format` | Markdown blocks | JSON block | `structuredContent` |
  |---|---|---|---|
  | `"markdown"` | yes | no | yes |
  | `"json"` | no | yes | yes |
  | `"both"` | yes, first | yes, last | yes |

  Programs should read the JSON block, because some clients drop `structuredContent` or the `mimeType` of blocks. Both
  have the same data. Keys have the order of the kind's declaration, and `nil` values are omitted. A client reads such
  results with `extract_structured/2`.

  ## Searching, asking back, failing

  `search/3` builds a search tool from your search function. It asks for more input if the query is empty or has too
  many matches, lists the matches, and renders cards for the first ones. `needs_input/2` asks with suggestions instead
  of failing: with a form if the client can show one, else with data.

  `respond/3` runs a handler's work. An exception or `{:error, reason}` becomes a failure with one of six codes
  (`McpServer.Presentation.ToolError`). The exception is logged, and the client gets only the id of the log line.

  ## Markers

  A comment such as `#{"<!-- kind:book-card:v1 -->"}`, alone on its line, announces a card. A text may have one index
  and any number of cards. Searches count the rendered markers in their metadata, as `contractMarkers`; your payload may
  do the same. A warning is logged if the markers of the text differ from the rendered markers or from the payload, or
  if data does not satisfy the schema of its kind. With `on_mismatch: :raise`, meant for tests, an exception is raised
  instead. The check covers the first 100 elements of each list of the payload; a tool's output schema checks all
  elements. Text of your users cannot add markers if it is escaped with `McpServer.Presentation.Markdown`.

  ## Options

  Options of `use McpServer.Presentation` and of `new/1`:

  | option | default | |
  |---|---|---|
  | `kinds:` | `[]` | `new/1` only: pairs of name and schema |
  | `index:`, `card:` | none | the names of the markers |
  | `marker_version:` | `"v1"` | their version |
  | `on_mismatch:` | `config :mcp_server, presentation_mismatch: :warn` | `:warn`, `:raise` or `:ignore`; `:ignore` skips the checks |
  | `max_output_bytes:` | 1 MiB | largest size of all texts of a result, or `:infinity`; a larger result is replaced by a failure |
  | `mime_type:` | `:block` | the place of a block's media type: `:block`, `:meta` (in its `_meta`) or `:none` |
  | `error_mime_type:` | `"text/plain"` | the media type of a failure's text |
  | `secrets:` | `[]` | texts and regular expressions that `provenance/2` removes |

  For results larger than 1 MiB use `max_output_bytes: :infinity`. The JSON block is then encoded directly into the
  answer, without an intermediate text.
  """

  alias McpServer.Fields
  alias McpServer.Presentation.{Builtin, Declaration, Extraction, ExtractionError, Guard, Kind, Lookup, NeedsInput}
  alias McpServer.Presentation.{Output, Provenance, Search, Summary, ToolError}
  alias McpServer.Tool.CallResult

  defstruct kinds: %{},
            index: nil,
            card: nil,
            marker_version: "v1",
            on_mismatch: nil,
            max_output_bytes: nil,
            mime_type: :block,
            error_mime_type: "text/plain",
            secrets: []

  @type t :: %__MODULE__{
          kinds: %{String.t() => struct},
          index: String.t() | nil,
          card: String.t() | nil,
          marker_version: String.t(),
          on_mismatch: :warn | :raise | :ignore | nil,
          max_output_bytes: pos_integer | :infinity,
          mime_type: :block | :meta | :none,
          error_mime_type: String.t(),
          secrets: [String.t() | Regex.t()]
        }

  @typedoc "A module with `use McpServer.Presentation`, or a value of `new/1`."
  @type view :: module | t

  @typedoc "The return value of a handler."
  @type result :: {:ok, CallResult.t()} | McpServer.Controller.input_required()

  @options Fields.table(
             [
               kinds: :container,
               index: :string,
               card: :string,
               marker_version: :string,
               on_mismatch: {:in, ~w(warn raise ignore)},
               max_output_bytes: :any,
               mime_type: {:in, ~w(block meta none)},
               error_mime_type: :string,
               secrets: :list
             ],
             "option"
           )

  @doc false
  defmacro __using__(options) do
    quote bind_quoted: [options: options] do
      import McpServer.Presentation, only: [kind: 2]
      @before_compile McpServer.Presentation
      McpServer.Presentation.Declaration.open!(__MODULE__, options, __ENV__.file, __ENV__.line)
    end
  end

  @doc false
  defmacro __before_compile__(env) do
    options = Declaration.close!(env.module)

    quote do
      @doc false
      def __presentation__, do: unquote(Macro.escape(options))
    end
  end

  @doc """
  Declares a kind of data: a name and a version, such as `"patternDetails:v1"`, and a JSON Schema of an object.

  The schema is a map or a keyword list. Keys are encoded in the order of `properties:` if it is a keyword list (or a
  list of pairs), and sorted if it is a map. The member `kind` is added: it comes first, is required and has one value.
  """
  defmacro kind(name, schema) do
    quote bind_quoted: [name: name, schema: schema] do
      McpServer.Presentation.Declaration.put_kind!(__MODULE__, name, schema, __ENV__.file, __ENV__.line)
    end
  end

  @doc """
  Builds a view as a value instead of a module. Raises `ArgumentError` that names the invalid option.

      iex> view = McpServer.Presentation.new(kinds: [{"book:v1", properties: [title: [type: "string"]]}])
      iex> {:ok, result} = McpServer.Presentation.present(view, "book:v1", %{"title" => "Emma"}, format: "json")
      iex> hd(result.content).text
      ~s({\\n  "kind": "book:v1",\\n  "title": "Emma"\\n})
  """
  @spec new(keyword | map) :: t
  def new(options) do
    options = Fields.gather!(inspect(__MODULE__), @options, options)
    kinds = for {name, schema} <- Map.get(options, :kinds, []), into: %{}, do: {name, Kind.new(name, schema)}
    builtin = Map.new(Builtin.kinds(), &{&1.name, &1})

    %__MODULE__{
      kinds: Map.merge(kinds, builtin),
      index: options[:index],
      card: options[:card],
      marker_version: Map.get(options, :marker_version, "v1"),
      on_mismatch: choice(options[:on_mismatch], [:warn, :raise, :ignore]),
      max_output_bytes: bytes!(Map.get(options, :max_output_bytes, 1024 * 1024)),
      mime_type: choice(options[:mime_type], [:block, :meta, :none]) || :block,
      error_mime_type: Map.get(options, :error_mime_type, "text/plain"),
      secrets: Enum.map(Map.get(options, :secrets, []), &secret!/1)
    }
    |> Declaration.check_markers!()
  end

  defp choice(nil, _known), do: nil
  defp choice(text, known), do: Enum.find(known, &(Atom.to_string(&1) == text))

  defp bytes!(bytes) when is_integer(bytes) and bytes > 0, do: bytes
  defp bytes!(:infinity), do: :infinity

  defp bytes!(other),
    do: raise(ArgumentError, "max_output_bytes is a positive integer or :infinity, got: #{inspect(other)}")

  defp secret!(secret) when is_binary(secret) or is_struct(secret, Regex), do: secret
  defp secret!(other), do: raise(ArgumentError, "secrets are texts and regular expressions, got: #{inspect(other)}")

  @doc """
  Data of a kind as a tool's result.

  | option | default | |
  |---|---|---|
  | `format:` | `"markdown"` | `"markdown"`, `"json"` or `"both"`; for other names the result is an error |
  | `markdown:` | none | the Markdown: iodata, or a function that returns it, called only if needed |
  | `extras:` | `[]` | further Markdown, a block each: iodata or functions |
  | `cards:` | not checked | expected number of cards in the Markdown |
  | `is_error:` | `false` | |
  | `meta:` | none | the result's `_meta` |

  The payload is a map; its keys are sent unchanged. `kind` is added, and `nil` members are omitted at any depth. Raises
  `ArgumentError` if the view does not declare the kind.
  """
  @spec present(view, String.t(), map, keyword) :: {:ok, CallResult.t()}
  def present(view, kind, payload, options \\ []) when is_map(payload),
    do: {:ok, Output.present(view!(view), kind, payload, options)}

  @doc """
  Runs a handler's work and converts every outcome to a result.

  `fun` is called with the checked format of the arguments (`"format"`). It returns

    * a result of the other functions of this module, or another `{:ok, %McpServer.Tool.CallResult{}}`, which is
      returned unchanged
    * a `McpServer.Presentation.NeedsInput` or `McpServer.Presentation.ToolError`
    * `{:error, reason}`, which is classified: see `McpServer.Presentation.ToolError.from/1`

  Exceptions, throws and exits are logged and become an `UNKNOWN_ERROR`.
  """
  @spec respond(view, map, (String.t() -> term)) :: result
  def respond(view, arguments, fun) when is_function(fun, 1), do: Guard.respond(view!(view), arguments, fun)

  @doc """
  A search tool around a search function.

      Presentation.search(View, arguments,
        kind: "bookSearchResults:v1",
        find: &Catalogue.search/1,
        items: "books",
        summary: ~w(id title author),
        filters: [author: [count: "authors"]],
        nouns: {"book", "books"},
        index: &View.index/1,
        card: &View.card/1
      )

  It asks for input if the query is empty, or if a search without a filter has more than 20 matches. Otherwise it
  returns the matches:

    * as data `query` (the query and the format), `metadata` (the number of matches in all and by filter, the matches
      with cards, the number of markers in the Markdown) and the matches, up to the argument `limit`
    * as Markdown a heading, an index of the matches, and cards for the first of them

  | option | default | |
  |---|---|---|
  | `kind:` | required | the kind of the data |
  | `find:` | required | a function of the arguments that returns all matches in the order of the index, `{:ok, matches}` or `{:error, reason}` |
  | `items:` | `"items"` | the member with the matches |
  | `summary:` | the match itself | the summary of a match: names of its members (`nil` and `[]` values are omitted), or a function of the match |
  | `id:` | `"id"` | the member with a match's id, or a function of the match |
  | `query:` | `"q"` | the argument with the query |
  | `filters:` | `[]` | arguments that narrow a search, with the member of `metadata` that counts their values (`count:`) and the order of the values (`values:`; default: order of the matches) |
  | `nouns:` | `{"item", "items"}` | the name of a match: singular and plural |
  | `suggestions:` | `[]` | suggested queries for an empty query |
  | `index:` | none | a function of the matches that returns the index as Markdown, without its marker |
  | `card:` | none | a function of a match that returns its card with the marker: see `McpServer.Presentation.Markdown.card/4` |
  | `cards:` | 3 | largest number of cards, from 1 to 10 |
  | `title:` | `"Search Results"` | the heading, which ends with the query |
  | `details_tool:` | none | the tool that the introduction names |
  | `too_broad:` | 20 | largest number of matches without a filter, or `:infinity` |
  | `max_limit:` | 100 | largest value of the argument `limit` |
  | `provenance:` | none | a map, or a function that returns one; added, and shown in a separate block, if the argument `includeProvenancePanel` is `true` |
  | `format:` | the argument `format` | |
  | `conn:` | none | asks with forms if the client supports them: see `McpServer.Presentation.NeedsInput` |
  """
  @spec search(view, map, keyword) :: result
  def search(view, arguments, options), do: Search.run(view!(view), arguments, options)

  @doc """
  A tool that returns one entry by its id, around a lookup function.

      Presentation.lookup(View, arguments,
        kind: "patternDetails:v1",
        nouns: {"pattern", "patterns"},
        find: &Catalogue.fetch/1,
        similar: &Catalogue.similar_ids/1,
        markdown: &View.card/1
      )

  An unknown or empty id is not an error: the tool asks for the id again and suggests up to five similar ids.

  | option | default | |
  |---|---|---|
  | `kind:` | required | the kind of the data |
  | `find:` | required | a function of the id: `{:ok, entry}`; `:error`, `nil` or `{:error, :not_found}`; `{:error, reason}` for a failure. Not called for an empty id |
  | `payload:` | the entry | a function of the entry that returns the data of the kind |
  | `markdown:` | none | a function of the entry that returns its Markdown |
  | `cards:` | not checked | number of cards in the Markdown |
  | `similar:` | none | a function of the id that returns similar ids, the best first. Not called for an empty id. If it fails, the failure is logged and no ids are suggested |
  | `nouns:` | `{"item", "items"}` | the name of an entry: singular and plural |
  | `id:` | `"id"` | the argument with the id |
  | `format:` | the argument `format` | |
  | `conn:` | none | asks with a form if the client supports it: see `McpServer.Presentation.NeedsInput` |
  """
  @spec lookup(view, map, keyword) :: result
  def lookup(view, arguments, options), do: Lookup.run(view!(view), arguments, options)

  @doc """
  Asks the caller for missing input: a result of the kind `needsInput:v1`, which is not an error.

  Takes a `McpServer.Presentation.NeedsInput` or its fields, and `format:`. With `conn:` clients that can show forms get
  a form; see "Forms" there.
  """
  @spec needs_input(view, NeedsInput.t() | keyword, keyword) :: result
  def needs_input(view, question, options \\ [])

  def needs_input(view, %NeedsInput{} = question, options), do: NeedsInput.ask(question, view!(view), options)

  def needs_input(view, fields, options) do
    {own, fields} = Keyword.split(fields, [:format, :conn])
    view |> needs_input(NeedsInput.new(fields), own ++ options)
  end

  @doc """
  A failure as a result of the kind `toolError:v1`, with `isError: true`.

  `failure` is a `McpServer.Presentation.ToolError` or anything `McpServer.Presentation.ToolError.from/1` takes.
  The option `format:` is as in `present/4`.

      iex> view = McpServer.Presentation.new([])
      iex> {:ok, result} = McpServer.Presentation.tool_error(view, {:status, 503})
      iex> {result.is_error, result.structured_content["code"], result.structured_content["retryable"]}
      {true, "SERVER_ERROR", true}
  """
  @spec tool_error(view, ToolError.t() | term, keyword) :: {:ok, CallResult.t()}
  def tool_error(view, failure, options \\ []),
    do: {:ok, failure |> ToolError.from() |> ToolError.present(view!(view), options)}

  @doc """
  The data in a result on the client's side: the last text block with JSON of a known kind that satisfies its schema.
  Other parts of the result may be missing.

  With a view, only its kinds are known. Without a view all kinds are known, and only `needsInput:v1` and `toolError:v1`
  are checked. `result` is decoded JSON, or the result of a handler. The error's `reason` is `:unknown_kind`,
  `:mismatch` or `:not_found`.

      iex> result = %{"content" => [%{"type" => "text", "text" => ~s({"kind":"book:v2"})}]}
      iex> McpServer.Presentation.extract_structured(result)
      {:ok, %{"kind" => "book:v2"}}
      iex> view = McpServer.Presentation.new(kinds: [{"book:v1", %{}}])
      iex> {:error, error} = McpServer.Presentation.extract_structured(result, view)
      iex> {error.reason, error.kind, error.known}
      {:unknown_kind, "book:v2", "book:v1"}
  """
  @spec extract_structured(map | CallResult.t(), view | nil) :: {:ok, map} | {:error, ExtractionError.t()}
  def extract_structured(result, view \\ nil)
  def extract_structured(result, nil), do: Extraction.run(result, nil)
  def extract_structured(result, view), do: Extraction.run(result, view!(view))

  @doc """
  The output schema of a tool that returns data of one of these kinds, a question or a failure.

      tool "books", "Lists books", MyApp.Books, :books,
        output_schema: McpServer.Presentation.output_schema(MyApp.Books.View, ["bookList:v1"])
  """
  @spec output_schema(view, [String.t()] | :all) :: map
  def output_schema(view, kinds \\ :all), do: Declaration.output_schema(view!(view), kinds)

  @doc "The schema of the argument `format`, for a handwritten input schema."
  @spec format_schema() :: map
  def format_schema do
    %{
      "type" => "string",
      "enum" => ["markdown", "json", "both"],
      "default" => "markdown",
      "description" => "markdown for people, json for programs, or both"
    }
  end

  @doc """
  The marker of an index or a card. It must be alone on its line.

      iex> McpServer.Presentation.marker(McpServer.Presentation.new(card: "book-card"), :card)
      "<!-- kind:book-card:v1 -->"
  """
  @spec marker(view, :index | :card) :: String.t()
  def marker(view, which), do: Declaration.marker!(view!(view), which)

  @doc """
  The number of index and card markers in a text. A marker counts if it is alone on its line and not in code.

      iex> view = McpServer.Presentation.new(index: "book-index", card: "book-card")
      iex> McpServer.Presentation.contract_markers(view, "# Emma\\n<!-- kind:book-card:v1 -->\\n")
      %{"index" => 0, "cards" => 1, "version" => "v1"}
  """
  @spec contract_markers(view, iodata) :: %{String.t() => non_neg_integer | String.t()}
  def contract_markers(view, markdown), do: Output.contract_markers(view!(view), IO.iodata_to_binary(markdown))

  @doc """
  A text of at most 200 characters, as `String.length/1` counts them. A longer text is cut, at a space if possible, and
  ends with `...`.

      iex> McpServer.Presentation.summary("Short.")
      "Short."
  """
  @spec summary(String.t()) :: String.t()
  defdelegate summary(text), to: Summary, as: :of

  @doc """
  A time in the format of payloads: UTC, with milliseconds. A `NaiveDateTime` counts as UTC.

      iex> McpServer.Presentation.timestamp(~U[2026-01-22 21:30:00Z])
      "2026-01-22T21:30:00.000Z"
  """
  @spec timestamp(DateTime.t() | NaiveDateTime.t()) :: String.t()
  defdelegate timestamp(time), to: Provenance

  @doc """
  The origin of data, safe to send. Members are omitted if their value is `nil`, a local path or a secret, or if their
  name is the name of a secret. Times are formatted with `timestamp/1`.

      iex> view = McpServer.Presentation.new(secrets: ["hunter2"])
      iex> McpServer.Presentation.provenance(view, source: "Catalogue", path: "/srv/data.json", file: "data.json")
      %{"source" => "Catalogue", "file" => "data.json"}
  """
  @spec provenance(view, keyword | map) :: map
  def provenance(view, members), do: Provenance.public(members, view!(view).secrets)

  @doc false
  @spec view!(view) :: t
  def view!(%__MODULE__{} = view), do: view
  def view!(module) when is_atom(module), do: Declaration.fetch!(module)
end
