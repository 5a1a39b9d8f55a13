defmodule McpServer.IEx do
  @moduledoc """
  Helpers for IEx: `mix mcp.list`, `mcp.call` and `mcp.read` without leaving the shell.

      iex> import McpServer.IEx
      iex> list MyApp.MCP
      iex> call MyApp.MCP, "add", a: 2, b: 40
      iex> read MyApp.MCP, "config://app"

  A server is a router, or the URL of a server. Questions of the server appear in the shell.

  ## Options

  Options of `list/2`, `call/4` and `read/3`:

    * `:as` – `conn.principal` of the router's handlers and of `authorize:` (`nil`)
    * `:revision` – the revision of MCP (the newest that the server supports)
    * `:json` – print the whole result as JSON (`false`)
    * `:headers` – headers for a URL, such as `[{"authorization", "Bearer …"}]`
    * `:timeout` – how long to wait for the server, in milliseconds (60000)
  """

  alias McpServer.{Client, Console}
  alias McpServer.Console.Questions

  @typedoc "A router, or the URL of a server."
  @type target :: module() | String.t()

  # The value of `IEx.dont_display_result/0`, which IEx does not print. The library does not depend on IEx.
  @shown :"do not show this result in output"
  @options [as: nil, revision: nil, json: false, headers: [], timeout: 60_000]

  @doc "Prints the tools, prompts, resources and templates of a server. IEx does not print the return value."
  @spec list(target(), keyword()) :: atom()
  def list(target, options \\ []), do: run(target, options, &Console.list/2)

  @doc """
  Calls a tool with arguments, a keyword list or a map, and prints its result.

  IEx does not print the return value.
  """
  @spec call(target(), String.t(), keyword() | map(), keyword()) :: atom()
  def call(target, tool, arguments \\ [], options \\ []) do
    input = for {name, value} <- arguments, into: %{}, do: {to_string(name), value}
    run(target, options, &Console.call(&1, tool, [], Map.put(&2, :input, input)))
  end

  @doc "Prints the contents of a resource. IEx does not print the return value."
  @spec read(target(), String.t(), keyword()) :: atom()
  def read(target, uri, options \\ []), do: run(target, options, &Console.read(&1, uri, &2))

  defp run(target, options, fun) do
    options = Keyword.validate!(options, @options)
    say = &IO.puts/1

    {_status, result} =
      Console.attempt(
        fn ->
          client = Client.open(target(target), client_options(target, options, say))
          outcome = fun.(client, %{say: say, json: options[:json]})
          Client.close(client)
          outcome
        end,
        say
      )

    IO.write(result)
    @shown
  end

  defp target(router) when is_atom(router), do: {:router, router}
  defp target(url) when is_binary(url), do: {:url, url}

  defp client_options(target, options, say) do
    link = if is_atom(target), do: [principal: options[:as]], else: [headers: options[:headers]]

    [
      revision: options[:revision],
      receive_timeout: options[:timeout],
      client_info: %{"name" => "mcp_server", "version" => "1.0.0"},
      client_capabilities: %{"elicitation" => %{"form" => %{}, "url" => %{}}, "sampling" => %{}},
      answers: Questions.answers(&gets/1),
      progress_token: "iex",
      log_level: :debug,
      notify: Console.notify(say)
    ] ++ link
  end

  defp gets(prompt) do
    case IO.gets(prompt) do
      line when is_binary(line) -> String.trim(line)
      _end -> nil
    end
  end
end
