defmodule McpServer.Generator do
  @moduledoc false
  # The files that `mix mcp.gen` writes, as text, and the instructions for existing files. This module does not use the
  # file system.

  alias McpServer.Generator.{App, Auth}

  @typedoc "An application: its name, and its main module."
  @type project :: %{app: String.t(), module: String.t()}

  @typedoc "`:next` are the next steps for the user."
  @type plan :: %{files: [{Path.t(), String.t(), mode :: non_neg_integer()}], next: String.t()}

  @kinds ~w(server phoenix tool prompt resource app auth release)
  @file_mode 0o644
  @script_mode 0o755

  @doc "The kinds that can be generated."
  @spec kinds() :: [String.t()]
  def kinds, do: @kinds

  @doc "Whether a name is valid for a tool, a prompt or a resource. Its module and file are named after it."
  @spec name(String.t()) :: :ok | {:error, String.t()}
  def name(name) do
    if name =~ ~r/\A[a-z][a-z0-9]*(_[a-z0-9]+)*\z/ and byte_size(name) <= 63,
      do: :ok,
      else: {:error, "a name is up to 63 of a-z 0-9 _, and begins with a letter: count_words, got: #{name}"}
  end

  @doc """
  The project of an application. Its modules begin like the module of its `mix.exs`, which need not be the name of the
  application: `mix phx.new my_crm --module MyCRM`.
  """
  @spec project(atom(), mix_project :: module() | nil) :: project()
  def project(app, mix_project \\ nil) do
    named = if mix_project, do: Regex.run(~r/\A(.+)\.MixProject\z/, inspect(mix_project))
    module = with [_whole, module] <- named, do: module, else: (_other -> Macro.camelize(to_string(app)))
    %{app: to_string(app), module: module}
  end

  @doc "The files and next steps for a kind."
  @spec plan(String.t(), String.t() | nil, project()) :: plan()
  def plan("server", nil, %{app: app, module: module}) do
    %{
      files: [
        {"lib/#{app}/mcp.ex", formatted(router(app, module)), @file_mode},
        {"lib/#{app}/mcp/hello.ex", formatted(tool_module(module, "hello")), @file_mode},
        {"test/#{app}/mcp_test.exs", formatted(router_test(module)), @file_mode}
      ],
      next: """
      Try it:

          mix mcp.call #{module}.MCP hello text=world

      So that `mix format` leaves its statements without parentheses, in .formatter.exs:

          import_deps: [:mcp_server]

      Over stdio, in a client:

          mix mcp.install claude-code #{module}.MCP

      Over HTTP, in the supervision tree, or in a Phoenix router and endpoint:

          {McpServer.HttpServer, router: #{module}.MCP, port: 4040}

          forward "/mcp", McpServer.HttpPlug, router: #{module}.MCP

          plug Plug.Parsers, body_reader: {McpServer.HttpPlug.BodyReader, :read_body, []}, …
      """
    }
  end

  def plan("tool", name, project) do
    %{
      files: files(project, name, &tool_module/2, &tool_test/2),
      next: """
      Add it to the router, #{project.module}.MCP:

          tool "#{name}", "Says what it does, for the model", #{module(project.module, name)}, :call,
            hints: [:read_only, :closed_world],
            arguments: :strings do
            input_field "text", "What to work on", :string, required: true
          end
      """
    }
  end

  def plan("prompt", name, project) do
    %{
      files: files(project, name, &prompt_module/2, &prompt_test/2),
      next: """
      Add it to the router, #{project.module}.MCP:

          prompt "#{name}", "Says what it is for", completion: false, arguments: :strings do
            argument "topic", "What it is about", required: true
            get #{module(project.module, name)}, :get
          end
      """
    }
  end

  def plan("resource", name, project) do
    %{
      files: files(project, name, &resource_module/2, &resource_test/2),
      next: """
      Add it to the router, #{project.module}.MCP:

          resource "#{name}", "#{uri(project.module, name)}" do
            description "Says what is in it"
            mimeType "text/plain"
            read #{module(project.module, name)}, :read
          end
      """
    }
  end

  def plan("app", name, %{app: app, module: module} = project) do
    html = {"lib/#{app}/mcp/#{name}.html", App.page(name), @file_mode}

    %{
      files: files(project, name, &App.code/2, &App.test/2) ++ [html],
      next: """
      Add it to the router, #{module}.MCP:

          tool "#{name}", "Says what it does, for the model", #{module(module, name)}, :call,
            hints: [:read_only, :closed_world],
            arguments: :strings,
            ui: "#{App.uri(module, name)}" do
            input_field "text", "What to work on", :string, required: true
            output_field "text", "What came of it", :string, required: true
          end

          resource "#{name} view", "#{App.uri(module, name)}" do
            description "The view of #{name}"
            read #{module(module, name)}, :view
          end

      See it, with its view:

          mix mcp.playground #{module}.MCP
      """
    }
  end

  def plan("auth", nil, %{app: app, module: module}) do
    %{
      files: [
        {"lib/#{app}/mcp/auth.ex", formatted(Auth.code(app, module)), @file_mode},
        {"test/#{app}/mcp/auth_test.exs", formatted(Auth.test(app, module)), @file_mode}
      ],
      next: """
      In config/runtime.exs, the URL that clients connect to and the issuer of their tokens:

          config :#{app}, #{module}.MCP.Auth,
            resource: "https://mcp.example.com/mcp",
            issuer: "https://auth.example.com"

      For the server, or in a Phoenix router and endpoint:

          {McpServer.HttpServer, router: #{module}.MCP, port: 4040, auth: {#{module}.MCP.Auth, :options}}

          forward "/mcp", McpServer.HttpPlug, router: #{module}.MCP, auth: {#{module}.MCP.Auth, :options}

          plug McpServer.HttpPlug.ResourceMetadata, auth: {#{module}.MCP.Auth, :options}

      What clients are told, and why a token is refused:

          mix mcp.auth --resource https://mcp.example.com/mcp --issuer https://auth.example.com
      """
    }
  end

  def plan("release", nil, %{app: app, module: module}) do
    %{
      files: [{"rel/overlays/bin/mcp", release(app, module), @script_mode}],
      next: """
      After `mix release` a client starts the server with bin/mcp of the release:

          mix mcp.install claude-code --command "exec /path/to/#{app}/bin/mcp"
      """
    }
  end

  defp files(%{app: app, module: module}, name, code, test) do
    [
      {"lib/#{app}/mcp/#{name}.ex", formatted(code.(module, name)), @file_mode},
      {"test/#{app}/mcp/#{name}_test.exs", formatted(test.(module, name)), @file_mode}
    ]
  end

  @doc "Formats the text of a file: its line breaks depend on the names."
  @spec formatted(String.t()) :: String.t()
  def formatted(code) do
    options = [locals_without_parens: [tool: :*, input_field: :*, assert: :*, from: :*]]
    IO.iodata_to_binary([Code.format_string!(code, options), ?\n])
  end

  @doc "The module for a name."
  @spec module(String.t(), String.t()) :: String.t()
  def module(module, name), do: "#{module}.MCP.#{Macro.camelize(name)}"

  defp router(app, module) do
    """
    defmodule #{module}.MCP do
      @moduledoc "What #{app} offers to models."
      use McpServer.Router, name: "#{app}", version: "0.1.0"

      tool "hello", "Greets what it is given", #{module(module, "hello")}, :call,
        hints: [:read_only, :closed_world] do
        input_field "text", "Whom to greet", :string, required: true
      end
    end
    """
  end

  defp router_test(module) do
    """
    defmodule #{module}.MCPTest do
      use ExUnit.Case, async: true
      use McpServer.Test, router: #{module}.MCP

      test "greets" do
        assert {:ok, %{"content" => [%{"text" => "hello: world"}]}} =
                 call_tool("hello", %{"text" => "world"})
      end

      test "tells the model what is wrong with an argument" do
        assert {:ok, %{"isError" => true}} = call_tool("hello", %{"text" => 1})
      end
    end
    """
  end

  defp tool_module(module, name) do
    """
    defmodule #{module(module, name)} do
      @moduledoc "The tool #{name}."
      use McpServer.Controller

      def call(_conn, %{"text" => text}), do: {:ok, [text("#{name}: " <> text)]}
    end
    """
  end

  defp tool_test(module, name) do
    """
    defmodule #{module(module, name)}Test do
      use ExUnit.Case, async: true

      alias #{module(module, name)}

      test "answers" do
        assert {:ok, [%{text: "#{name}: a"}]} =
                 #{Macro.camelize(name)}.call(%McpServer.Conn{}, %{"text" => "a"})
      end
    end
    """
  end

  defp prompt_module(module, name) do
    """
    defmodule #{module(module, name)} do
      @moduledoc "The prompt #{name}."
      use McpServer.Controller

      def get(_conn, %{"topic" => topic}), do: [message("user", "Tell me about " <> topic)]
    end
    """
  end

  defp prompt_test(module, name) do
    """
    defmodule #{module(module, name)}Test do
      use ExUnit.Case, async: true

      alias #{module(module, name)}

      test "has a message of the user" do
        assert [%{role: "user"}] =
                 #{Macro.camelize(name)}.get(%McpServer.Conn{}, %{"topic" => "Elixir"})
      end
    end
    """
  end

  defp resource_module(module, name) do
    """
    defmodule #{module(module, name)} do
      @moduledoc "The resource #{name}."
      use McpServer.Controller

      def read(_conn, _variables), do: content("#{name}", "#{uri(module, name)}", text: "#{name}")
    end
    """
  end

  defp resource_test(module, name) do
    """
    defmodule #{module(module, name)}Test do
      use ExUnit.Case, async: true

      alias #{module(module, name)}

      test "is read" do
        assert #{Macro.camelize(name)}.read(%McpServer.Conn{}, %{}).text == "#{name}"
      end
    end
    """
  end

  # A URI scheme cannot contain underscores.
  defp uri(module, name), do: "#{scheme(module)}://#{name}"

  @doc "The scheme of the URIs of an application."
  @spec scheme(String.t()) :: String.t()
  def scheme(module), do: module |> Macro.underscore() |> String.replace("_", "-")

  defp release(app, module) do
    """
    #!/bin/sh
    # Serves #{module}.MCP on stdin and stdout, for clients that start their servers themselves.
    set -eu
    cd -P -- "$(dirname -- "$0")"
    exec ./#{app} eval "McpServer.Stdio.run(#{module}.MCP, app: :#{app})"
    """
  end
end
