defmodule Mix.McpServer.Console do
  # The shared parts of `mix mcp.list`, `mcp.call`, `mcp.read` and `mcp.get`: the target server, the client's options,
  # and the exit status.
  @moduledoc false

  alias McpServer.{Client, Console}
  alias McpServer.Console.{Questions, Terminal}
  alias McpServer.Protocol.Revision
  alias Mix.McpServer.{Principal, Remote}

  @switches [
    url: :string,
    stdio: :string,
    header: :keep,
    header_env: :keep,
    revision: :string,
    timeout: :integer,
    json: :boolean,
    compile: :boolean,
    start: :boolean
  ]
  @revisions Revision.all()
  @timeout 60_000

  @doc "The options for a task's moduledoc."
  @spec options_doc() :: String.t()
  def options_doc do
    """
      * `--url URL` – a server over HTTP, in place of a router; `--header "NAME: VALUE"` adds a header, and
        `--header-env "NAME=VARIABLE"` adds one whose value is in an environment variable; both may be repeated
      * `--stdio COMMAND` – a server that a command starts, in place of a router: `--stdio "npx some-server"`
    #{Principal.option_doc()}\
      * `--revision R` – the revision of MCP (the newest that the server supports)
      * `--timeout MS` – how long to wait for the server, in milliseconds (60000)
      * `--json` – the whole result as JSON
      * `--no-compile`, `--no-start` – as for `mix run`
    """
  end

  @doc "The streams and the exit status for a task's moduledoc."
  @spec status_doc() :: String.t()
  def status_doc do
    """
    stdout carries only the result. Output of handlers, logs and progress go to stderr. The exit status is 0 for
    success, 1 for a failure, 2 for an invalid command line, 3 if the server refuses the client (401, 403), and 5 if the
    tool's result is an error.
    """
  end

  @doc """
  Runs a task: parses its arguments, opens the server, and calls `fun` with the client and the words after the target.
  The task ends with the returned status. `most` is the maximum number of words.
  """
  @spec run([String.t()], keyword(), {least :: non_neg_integer(), most :: non_neg_integer()}, String.t(), fun) :: :ok
        when fun: (Client.t(), [String.t()], Console.options() -> Console.outcome())
  def run(arguments, more_switches, counts, usage, fun) do
    {options, target, words} =
      usage(fn -> parse!(arguments, Principal.switch() ++ @switches ++ more_switches, counts, usage) end)

    terminal = Terminal.take_over!()
    say = &Terminal.say/1
    asked = %{say: say, json: options[:json] == true, input: options[:input], task: options[:task] == true}
    :ok = prepare(target, options)
    target = usage(fn -> router(target) end)

    {status, result} =
      Console.attempt(
        fn ->
          client = Client.open(target, client_options(target, options, say))
          {status, result} = fun.(client, words, asked)
          Client.close(client)
          {status, result}
        end,
        say
      )

    :ok = Terminal.put(terminal, result)
    if status == 0, do: :ok, else: exit({:shutdown, status})
  end

  # An invalid command line has a separate exit status.
  defp usage(fun) do
    fun.()
  rescue
    error in Mix.Error -> reraise %{error | mix: 2}, __STACKTRACE__
  end

  defp parse!(arguments, switches, {least, most}, usage) do
    {options, words} = Mix.McpServer.options!(arguments, switches, usage)
    Mix.McpServer.limits!(options, [timeout: :milliseconds], usage)
    options[:revision] in [nil | @revisions] || refuse_revision(options[:revision], usage)
    {target, words} = target(options, words, usage)
    length(words) in least..most || Mix.raise(usage)
    {options |> headers(target, usage) |> input(usage) |> principal(target, usage), target, words}
  end

  @spec refuse_revision(String.t(), String.t()) :: no_return()
  defp refuse_revision(given, usage),
    do: Mix.McpServer.refuse!("expected --revision to be one of #{Enum.join(@revisions, ", ")}, got: #{given}", usage)

  defp target(options, words, usage) do
    case {options[:url], options[:stdio], words} do
      {nil, nil, [router | words]} -> {{:router, router}, words}
      {nil, nil, []} -> Mix.raise(usage)
      {url, nil, words} -> {{:url, Remote.url!(url, "--url", usage)}, words}
      {nil, command, words} -> {{:command, command}, words}
      _both -> Mix.McpServer.refuse!("there is one server: give --url or --stdio", usage)
    end
  end

  defp headers(options, target, usage) do
    given? = Keyword.has_key?(options, :header) or Keyword.has_key?(options, :header_env)
    if given? and not match?({:url, _url}, target), do: Mix.McpServer.refuse!("--header is for --url", usage)
    [{:headers, Remote.headers!(options, usage)} | Keyword.drop(options, [:header, :header_env])]
  end

  defp input(options, usage) do
    case options[:input_json] && Console.input(options[:input_json]) do
      nil -> options
      {:ok, input} -> [{:input, input} | options]
      {:error, mistake} -> Mix.McpServer.refuse!("--input-json: #{mistake}", usage)
    end
  end

  defp principal(options, target, usage) do
    if options[:as] != nil and not match?({:router, _name}, target),
      do: Mix.McpServer.refuse!("--as is for a router: a server over HTTP is told by --header who asks", usage)

    Principal.parse!(options, usage)
  end

  defp prepare({:router, _name}, options), do: Mix.McpServer.start_application(options)

  defp prepare(_elsewhere, _options) do
    {:ok, _started} = Application.ensure_all_started(:mcp_server)
    :ok
  end

  defp router({:router, name}), do: {:router, Mix.McpServer.router!(name)}
  defp router(elsewhere), do: elsewhere

  defp client_options(target, options, say) do
    gets = Terminal.gets()
    tasks = if options[:task], do: Console.task_capability(), else: %{}
    asking = if gets, do: %{"elicitation" => %{"form" => %{}, "url" => %{}}, "sampling" => %{}}, else: %{}

    [
      revision: options[:revision],
      receive_timeout: options[:timeout] || @timeout,
      client_info: %{"name" => "mcp_server", "version" => version()},
      client_capabilities: Map.merge(asking, tasks),
      answers: gets && Questions.answers(gets),
      progress_token: "mix",
      log_level: :debug,
      notify: Console.notify(say)
    ] ++ link_options(target, options)
  end

  defp link_options({:router, _router}, options), do: [principal: options[:as]]
  defp link_options({:url, _url}, options), do: [headers: options[:headers]]
  defp link_options({:command, _command}, _options), do: []

  defp version, do: :mcp_server |> Application.spec(:vsn) |> to_string()
end
