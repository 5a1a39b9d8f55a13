defmodule McpServer.Install.Table do
  @moduledoc false
  # The clients and the places of their configuration. All differences between clients are data in this table.
  #
  # A path begins with its base: `:home`, `:config` (XDG_CONFIG_HOME or ~/.config), `:support` (macOS), `:appdata`
  # (Windows), or an environment variable with its default, `{"CODEX_HOME", ".codex"}`. Of several paths the first
  # existing one is used, else the first.
  #
  # An entry lists its keys in order. Atoms are placeholders: `:command`, `:args`, `:command_line` (both in one list),
  # `:url`, `:headers` (left out if there are none) and `:name`.

  @type path :: [:home | :config | :support | :appdata | {String.t(), String.t()} | String.t()]
  @type template :: [{String.t(), term()}]
  @type client :: %{
          id: String.t(),
          name: String.t(),
          format: :json | :toml | :yaml,
          key: String.t(),
          user: %{optional(McpServer.Install.Place.os()) => [path()]} | nil,
          project: String.t() | nil,
          stdio: template(),
          http: template() | nil,
          command: String.t() | nil
        }

  @plain [{"command", :command}, {"args", :args}]
  @typed [{"type", "stdio"} | @plain]
  @http [{"type", "http"}, {"url", :url}, {"headers", :headers}]

  @clients [
    %{
      id: "claude-desktop",
      name: "Claude Desktop",
      key: "mcpServers",
      user: %{
        linux: [[:config, "Claude/claude_desktop_config.json"]],
        darwin: [[:support, "Claude/claude_desktop_config.json"]],
        windows: [[:appdata, "Claude/claude_desktop_config.json"]]
      },
      stdio: @plain,
      http: nil
    },
    %{
      id: "claude-code",
      name: "Claude Code",
      key: "mcpServers",
      user: [:home, ".claude.json"],
      project: ".mcp.json",
      stdio: @typed,
      http: @http,
      command: "claude"
    },
    %{
      id: "cursor",
      name: "Cursor",
      key: "mcpServers",
      user: [:home, ".cursor/mcp.json"],
      project: ".cursor/mcp.json",
      stdio: @plain,
      http: [{"url", :url}, {"headers", :headers}]
    },
    %{
      id: "vscode",
      name: "VS Code",
      key: "servers",
      user: %{
        linux: [[:config, "Code/User/mcp.json"]],
        darwin: [[:support, "Code/User/mcp.json"]],
        windows: [[:appdata, "Code/User/mcp.json"]]
      },
      project: ".vscode/mcp.json",
      stdio: @typed,
      http: @http
    },
    %{
      id: "windsurf",
      name: "Windsurf",
      key: "mcpServers",
      user: [:home, ".codeium/windsurf/mcp_config.json"],
      stdio: @plain,
      http: [{"serverUrl", :url}]
    },
    %{
      id: "zed",
      name: "Zed",
      key: "context_servers",
      user: %{
        linux: [[:config, "zed/settings.json"]],
        darwin: [[:home, ".config/zed/settings.json"], [:support, "Zed/settings.json"]]
      },
      project: ".zed/settings.json",
      stdio: [{"source", "custom"} | @plain],
      http: [{"source", "custom"} | @http]
    },
    %{
      id: "gemini",
      name: "Gemini CLI",
      key: "mcpServers",
      user: [:home, ".gemini/settings.json"],
      project: ".gemini/settings.json",
      stdio: @plain,
      http: [{"httpUrl", :url}],
      command: "gemini"
    },
    %{
      id: "codex",
      name: "Codex",
      format: :toml,
      key: "mcp_servers",
      user: [{"CODEX_HOME", ".codex"}, "config.toml"],
      project: ".codex/config.toml",
      stdio: @plain ++ [{"startup_timeout_sec", 30}],
      http: [{"url", :url}, {"http_headers", :headers}],
      command: "codex"
    },
    %{
      id: "goose",
      name: "Goose",
      format: :yaml,
      key: "extensions",
      user: %{linux: [[:config, "goose/config.yaml"]], darwin: [[:config, "goose/config.yaml"]]},
      stdio: [
        {"type", "stdio"},
        {"name", :name},
        {"cmd", :command},
        {"args", :args},
        {"enabled", true},
        {"timeout", 300}
      ],
      http: [
        {"type", "streamable_http"},
        {"name", :name},
        {"uri", :url},
        {"headers", :headers},
        {"enabled", true},
        {"timeout", 300}
      ]
    },
    %{
      id: "copilot",
      name: "Copilot CLI",
      key: "mcpServers",
      user: [{"XDG_CONFIG_HOME", ".copilot"}, "mcp-config.json"],
      project: ".vscode/mcp.json",
      stdio: @typed ++ [{"tools", ["*"]}],
      http: @http ++ [{"tools", ["*"]}]
    },
    %{
      id: "opencode",
      name: "opencode",
      key: "mcp",
      user: [:config, "opencode/opencode.json"],
      project: "opencode.json",
      stdio: [{"type", "local"}, {"command", :command_line}, {"enabled", true}],
      http: [{"type", "remote"}, {"url", :url}, {"headers", :headers}, {"enabled", true}]
    },
    %{
      id: "cline",
      name: "Cline",
      key: "mcpServers",
      user: %{
        linux: [[:config, "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"]],
        darwin: [[:support, "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"]],
        windows: [[:appdata, "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"]]
      },
      stdio: @plain ++ [{"disabled", false}],
      http: [{"type", "streamableHttp"}, {"url", :url}, {"disabled", false}]
    },
    # For any other program that reads this form. No file is written.
    %{id: "mcp-json", name: "the generic form", key: "mcpServers", user: nil, stdio: @plain, http: @http}
  ]

  @absent %{format: :json, project: nil, command: nil}

  @doc "All clients, in the order of the list."
  @spec all() :: [client()]
  def all do
    for client <- @clients, do: Map.merge(@absent, %{client | user: user(client.user)})
  end

  # The same path on all systems.
  defp user(path) when is_list(path), do: %{linux: [path], darwin: [path], windows: [path]}
  defp user(other), do: other

  @doc "The client with an id."
  @spec fetch(String.t()) :: {:ok, client()} | :error
  def fetch(id) do
    case Enum.find(all(), &(&1.id == id)) do
      nil -> :error
      client -> {:ok, client}
    end
  end
end
