defmodule McpServer.Generator.Phoenix do
  @moduledoc false
  # The files and the changes that mount a server in a Phoenix application.
  #
  # With the users of `mix phx.gen.auth` the tokens of clients are in their table, and the context of a request has the
  # user's scope. Without them `Phoenix.Token` signs the principal.

  alias McpServer.Generator
  alias McpServer.Generator.Phoenix.{Auth, Code}

  @typedoc "The users of an application: with the scope of Phoenix 1.8, without it, or none."
  @type users :: :scope | :user | :none

  @typedoc "The new text of a file, or the lines that its user has to add."
  @type change :: {:changed, Path.t(), text :: String.t()} | {:by_hand, Path.t(), lines :: String.t()}

  @type plan :: %{files: [{Path.t(), String.t(), mode :: 0o644}], changes: [change()], next: String.t()}

  @doc """
  The new files, the changes and the next steps. `read` returns the text of a file, `nil` without one. An error if this is
  no Phoenix application.
  """
  @spec plan(Generator.project(), read :: (Path.t() -> String.t() | nil)) :: plan() | {:error, String.t()}
  def plan(%{app: app} = project, read) do
    router = "lib/#{app}_web/router.ex"

    if read.(router) do
      users = users(project, read)
      files = for {path, text} <- Code.files(project, users) ++ Auth.files(project, users), do: {path, text, 0o644}
      changes = for rule <- rules(project), change = change(rule, read), do: change
      %{files: files, changes: changes, next: next(project, users)}
    else
      {:error,
       "there is no #{router}, so this is no Phoenix application: mix mcp.gen server writes a server without one"}
    end
  end

  defp users(%{app: app}, read) do
    cond do
      read.("lib/#{app}/accounts/user_token.ex") == nil -> :none
      read.("lib/#{app}/accounts/scope.ex") == nil -> :user
      true -> :scope
    end
  end

  # A rule: the file, what it has if it was changed before, where the line belongs, and the lines. `\\0` is the text of the
  # place.
  defp rules(%{app: app, module: module}) do
    mount = mount(["router: #{module}.MCP", "identify: {#{module}Web.MCPAuth, :identify}"])
    reader = "body_reader: {McpServer.HttpPlug.BodyReader, :read_body, []},"
    drainer = "{McpServer.HttpPlug.Drainer, router: #{module}.MCP}"

    [
      {"lib/#{app}_web/router.ex", "McpServer.HttpPlug", ~r/^  scope /m,
       "  # Clients of MCP send neither cookies nor CSRF tokens: no pipeline.\n  #{mount}\n\n\\0", mount},
      {"lib/#{app}_web/endpoint.ex", "McpServer.HttpPlug", ~r/^( +)pass: \["\*\/\*"\],\n/m, "\\0\\1#{reader}\n",
       "plug Plug.Parsers,\n  #{reader}"},
      {"lib/#{app}/application.ex", "McpServer.HttpPlug", ~r/^( +)#{module}Web\.Endpoint(?=\n *\])/m,
       "\\0,\n\\1#{drainer}", "#{module}Web.Endpoint,\n#{drainer}"},
      {".formatter.exs", ":mcp_server", ~r/import_deps: \[[^\]]+/, "\\0, :mcp_server",
       "import_deps: [:phoenix, :mcp_server],"}
    ]
  end

  # As `mix format` would write it, in lines of 98 characters.
  defp mount(options) do
    forward = "forward \"/mcp\", McpServer.HttpPlug,"
    line = forward <> " " <> Enum.join(options, ", ")
    if String.length("  " <> line) <= 98, do: line, else: forward <> "\n    " <> Enum.join(options, ",\n    ")
  end

  defp change({path, mark, place, replacement, lines}, read) do
    text = read.(path) || ""

    cond do
      text =~ mark -> nil
      text =~ place -> {:changed, path, Regex.replace(place, text, replacement, global: false)}
      true -> {:by_hand, path, lines}
    end
  end

  defp next(%{app: app, module: module}, users) do
    """
    Your application has now an MCP endpoint with one tool. Run its test:

        mix test test/#{app}_web/mcp_test.exs

    Start the application and make a token:

        iex -S mix phx.server
        iex> #{token(module, users)}

    Call the tool with it, and set up a client:

        export TOKEN="Bearer …"
        mix mcp.call --url http://localhost:4000/mcp --header-env Authorization=TOKEN whoami
        mix mcp.install claude-code --url http://localhost:4000/mcp --header-env Authorization=TOKEN

    Before you deploy it, add the host of its URL to the line in lib/#{app}_web/router.ex:

        allowed_hosts: ["example.com"]

    and in config/runtime.exs, where it is :prod, a secret (mix phx.gen.secret). Without it every deploy ends all sessions:

        config :mcp_server, secret: System.fetch_env!("MCP_SECRET")
    """
  end

  defp token(module, :none), do: ~s[#{module}Web.MCPAuth.token("ada")]

  defp token(module, _users),
    do: ~s[#{module}.MCP.Tokens.create(#{module}.Repo.get_by!(#{module}.Accounts.User, email: "…"))]
end
