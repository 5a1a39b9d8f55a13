defmodule McpServer.Lint do
  @moduledoc """
  Finds mistakes that do not stop a router from compiling: schemas that no value satisfies, declarations that known
  clients refuse, missing or too long texts. `mix mcp.lint` prints the findings. A test gets them as data:

      test "clients take every tool" do
        assert McpServer.Lint.run(MyApp.MCP, ignore: [:format]) == []
      end

  The compiler also warns of errors. `guides/lint.md` describes each code: the mistake, the reason and the affected
  clients.

  ## In a router

      use McpServer.Router, lint: false                        # no warnings while it compiles
      use McpServer.Router, lint: [ignore: [:format]]          # a code that is not looked for in this router

      tool "search", "Searches", MyApp.Search, :run, lint: [ignore: [:root_combinator]] do

  A prompt has the same option, a resource the statement `lint ignore: [:template_shadowed]`.

  ## Limits

  The linter checks declarations only, not lists that a router computes (`list_tools/1` and similar).

  ## Tokens

  Tokens are estimated: four bytes of UTF-8 per token, rounded up. This is near the count of tokenizers for JSON in
  English. Other languages take more tokens, and models count differently.

  ## Findings

  | field | |
  |---|---|
  | `:severity` | `:error` or `:warning` |
  | `:code` | the rule, one of `McpServer.Lint.codes/0` |
  | `:router` | the router with the finding |
  | `:kind` | `"tool"`, `"prompt"`, `"resource"`, `"resource template"` or `"server"` |
  | `:name` | the name of the entry |
  | `:pointer` | the place: a JSON Pointer into the object as it is sent; `""` is the whole object |
  | `:message` | the problem |
  | `:advice` | the fix |
  | `:file`, `:line` | the declaration, or the field in it |
  """

  alias McpServer.{Catalog, Limit, Native}
  alias McpServer.Lint.Finding
  alias McpServer.Router.Places

  @errors ~w(unsatisfiable required_undeclared invalid_default invalid_example invalid_enum array_items root_combinator
             property_name same_template)a
  @warnings ~w(tool_name alike_names type_union missing_type format enum_type reference combinator boolean_schema
               output_root missing_description missing_annotations missing_scopes description_budget
               instructions_budget catalogue_budget tool_count template_overlap template_shadowed guard_overlap)a
  @codes @errors ++ @warnings
  @by_name Map.new(@codes, &{Atom.to_string(&1), &1})

  @budgets [:description_tokens, :instructions_tokens, :catalogue_tokens, :max_tools]

  @typedoc "A rule's name. The names are stable; `codes/0` lists them."
  @type code :: atom

  @typedoc "See the table of findings."
  @type finding :: %Finding{
          severity: :error | :warning,
          code: code,
          router: module,
          kind: String.t(),
          name: String.t(),
          pointer: String.t(),
          message: String.t(),
          advice: String.t(),
          file: String.t(),
          line: non_neg_integer
        }

  @type option ::
          {:only, [code]}
          | {:ignore, [code]}
          | {:description_tokens, pos_integer}
          | {:instructions_tokens, pos_integer}
          | {:catalogue_tokens, pos_integer}
          | {:max_tools, pos_integer}

  @doc """
  Every code, errors first.

      iex> :array_items in McpServer.Lint.codes()
      true
  """
  @spec codes() :: [code]
  def codes, do: @codes

  @doc false
  @spec fetch_code(String.t()) :: {:ok, code} | :error
  def fetch_code(name), do: Map.fetch(@by_name, name)

  @doc """
  The findings of a router, in the order of its declarations.

  | option | default | |
  |---|---|---|
  | `:only` | all | codes to check |
  | `:ignore` | none | codes to ignore, in addition to those that the router ignores |
  | `:description_tokens` | 256 | tokens of a tool's description: 1,024 bytes |
  | `:instructions_tokens` | 512 | tokens of the server's instructions: 2,048 bytes |
  | `:catalogue_tokens` | 20,000 | tokens of the names, descriptions and input schemas of all tools |
  | `:max_tools` | 128 | number of tools |

  Raises `ArgumentError` if the module is not a router or cannot be served, and for an unknown option or code or an
  invalid budget.
  """
  @spec run(module, [option]) :: [finding]
  def run(router, options \\ []) do
    options = Keyword.validate!(options, [:only, :ignore | @budgets])
    for name <- [:only, :ignore], {:ok, codes} <- [Keyword.fetch(options, name)], do: check_codes!(name, codes)
    budgets = Keyword.take(options, @budgets)
    for {name, budget} <- budgets, do: Limit.check!(name, budget, :count)

    with {:ok, definition} <- Catalog.definition(router),
         {:ok, found} <- Native.lint_definition(definition, Map.new(budgets), limits(router)) do
      findings(found, router, options)
    else
      {:error, message} -> raise ArgumentError, "#{inspect(router)} cannot be linted: #{message}"
    end
  end

  # The router's own limits, so that every schema and template that it accepts is checked.
  defp limits(router) do
    server = router.__mcp__(:server)
    {server.schema_limits, server.template_limits}
  end

  defp check_codes!(name, codes) do
    is_list(codes) || raise ArgumentError, "expected #{inspect(name)} to be a list of codes, got: #{inspect(codes)}"
    Enum.each(codes, &check_code!/1)
  end

  defp check_code!(code) when code in @codes, do: :ok
  defp check_code!(other), do: raise(ArgumentError, "there is no code #{inspect(other)}; see McpServer.Lint.codes/0")

  defp findings(found, router, options) do
    declarations = router.__mcp__(:places)
    ignored = router.__mcp__(:lint).ignore ++ Keyword.get(options, :ignore, [])
    wanted = Keyword.get(options, :only, @codes) -- ignored

    for found <- found,
        declared = declaration(declarations, found),
        finding = finding(advised(found, declared), router, Places.at(declared, found.pointer)),
        finding.code in wanted and finding.code not in declared.ignored,
        do: finding
  end

  defp finding(found, router, {file, line}) do
    severity = if found.severity == "error", do: :error, else: :warning
    code = Map.fetch!(@by_name, found.code)
    struct!(Finding, Map.merge(found, %{severity: severity, code: code, router: router, file: file, line: line}))
  end

  # A field that is declared elsewhere has its description elsewhere.
  defp advised(%{code: "missing_description", pointer: "/inputSchema/properties/" <> name} = found, declared) do
    case {declared[:elsewhere][:input_schema], String.contains?(name, "/")} do
      {McpServer.Ecto, false} -> %{found | advice: "Say in a sentence what it is for: #{described(name)}."}
      {McpServer.Ecto, true} -> %{found | advice: "A field of an embed has no description: declare it with `input`."}
      {NimbleOptions, _deep?} -> %{found | advice: "Say in a sentence what it is for, with `doc:` of the option."}
      {nil, _deep?} -> found
    end
  end

  defp advised(found, _declared), do: found

  defp described(name), do: "`descriptions: [#{name}: \"…\"]` of {McpServer.Ecto, …}"

  # The first declaration is the router itself.
  defp declaration([router | _] = declarations, found) do
    what = "#{found.kind} #{inspect(found.name)}"
    Enum.find(declarations, router, &(&1.what == what))
  end
end
