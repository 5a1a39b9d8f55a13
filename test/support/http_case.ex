defmodule McpServer.HttpCase do
  # Tests that run against both servers. `both "name", [option: value], %{server: server} do … end` defines two tests.
  # Each starts a server with the options.
  @moduledoc false

  use ExUnit.CaseTemplate

  import ExUnit.Assertions

  alias McpServer.HttpServers

  using do
    quote do
      import McpServer.HttpCase
      import McpServer.HttpRequests

      alias McpServer.{HttpClient, HttpPeer, HttpResponse, HttpScript, HttpServers, HttpSession}
    end
  end

  setup context do
    if kind = context[:serve], do: {:ok, server: HttpServers.start(kind, context.server_options)}, else: :ok
  end

  @doc "A test of both servers."
  defmacro both(name, options \\ [], context, do: block),
    do: twice(name, &[serve: &1, server_options: options], context, block)

  @doc "A test of both servers that starts them itself. `context` has the `:kind`."
  defmacro on_both(name, context, do: block), do: twice(name, &[kind: &1], context, block)

  @doc "The same test for each server, with separate tags. Both get the tags before it, which `test` would use up."
  def twice(name, tags, context, block) do
    tests =
      for kind <- [:listener, :plug] do
        quote do
          for tag <- [unquote(tags.(kind)) | given], do: @tag(tag)
          test(unquote("#{kind}: #{name}"), unquote(context), do: unquote(block))
        end
      end

    quote do
      given = @tag
      unquote_splicing(tests)
    end
  end

  @doc "The CORS headers of a response."
  def cors(response) do
    for {name, value} <- response.headers,
        name = String.downcase(name),
        String.starts_with?(name, "access-control-") or name == "vary",
        into: %{},
        do: {name, value}
  end

  @doc "Asserts that a condition becomes true within thirty seconds, which is enough on a busy machine."
  def eventually(condition, left \\ 3_000) do
    cond do
      value = condition.() ->
        value

      left == 0 ->
        flunk("it did not come true within thirty seconds")

      true ->
        Process.sleep(10)
        eventually(condition, left - 1)
    end
  end

  @doc "Runs `fun` with a lifetime in seconds, and again with a longer one if that was too short on a busy machine."
  def while_valid(fun, seconds \\ 2) do
    fun.(seconds)
  rescue
    error in [ExUnit.AssertionError, MatchError] ->
      if seconds < 60, do: while_valid(fun, seconds * 4), else: reraise(error, __STACKTRACE__)
  end

  @doc "The process of the server's only connection. Ends of earlier connections may reach the server late."
  def connection(server) do
    [connection] =
      eventually(fn ->
        connections = MapSet.to_list(:sys.get_state(server.pid).connections)
        match?([_only], connections) && connections
      end)

    connection
  end

  @doc "Asserts that `fun` leaves no additional processes, ports or tables."
  def assert_nothing_left(fun) do
    settle()
    before = counts()
    result = fun.()
    eventually(fn -> Enum.all?(Enum.zip(counts(), before), fn {now, then} -> now <= then end) end)
    result
  end

  defp settle, do: for(pid <- Process.list(), do: :erlang.garbage_collect(pid))
  defp counts, do: [length(Process.list()), length(Port.list()), length(:ets.all())]

  @doc "A figure of a load test: `MCP_SCALE=20 mix test test/http/crowds_test.exs` multiplies it by 20."
  def scaled(figure), do: figure * String.to_integer(System.get_env("MCP_SCALE", "1"))

  @doc "Runs `fun` once for each item, with `at_once` items in parallel."
  def in_parallel(items, fun, at_once \\ 16) do
    items
    |> Task.async_stream(fun, max_concurrency: at_once, timeout: :infinity, ordered: true)
    |> Enum.map(fn {:ok, result} -> result end)
  end
end
