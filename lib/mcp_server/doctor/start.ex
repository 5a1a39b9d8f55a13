defmodule McpServer.Doctor.Start do
  @moduledoc false
  # Starts a server by its command: checks that it answers, how fast it starts, and that stdout has only messages.

  alias McpServer.Client
  alias McpServer.Client.Error
  alias McpServer.Doctor.Finding

  @typedoc "The time in milliseconds after which a start is slow, and the maximum wait."
  @type patience :: %{slow_ms: non_neg_integer(), timeout: pos_integer()}

  # Of the text of an error.
  @max_characters 300

  @doc "The default times. Codex kills a server after 10 seconds."
  @spec patience() :: patience()
  def patience, do: %{slow_ms: 5_000, timeout: 30_000}

  @doc "Starts the server, and sends `initialize` and `tools/list`. `who` is its name in findings, `repair` the advice."
  @spec findings(String.t(), McpServer.Client.Link.target(), keyword(), String.t(), patience()) :: [Finding.t()]
  def findings(who, target, link, repair, patience) do
    here = self()
    mark = make_ref()
    begun = System.monotonic_time(:millisecond)
    noise = if match?({:command, _command}, target), do: [noise: &send(here, {mark, &1})], else: []
    options = [revision: "2025-11-25", receive_timeout: patience.timeout, client_capabilities: %{}] ++ noise ++ link

    try do
      client = Client.open(target, options)
      took = System.monotonic_time(:millisecond) - begun
      listed = Client.list(client, "tools/list", "tools")
      Client.close(client)
      [answered(who, listed), slow(who, took, patience)] ++ noise(who, mark)
    rescue
      error in Error -> [Finding.error("#{who}: #{error.message}", repair) | noise(who, mark)]
    end
  end

  defp answered(who, {:ok, [_tool]}), do: Finding.ok("#{who} answers, with 1 tool")
  defp answered(who, {:ok, tools}) when is_list(tools), do: Finding.ok("#{who} answers, with #{length(tools)} tools")
  # A server may have only resources.
  defp answered(who, {:error, %{"code" => -32_601}}), do: Finding.ok("#{who} answers, without tools")

  defp answered(who, {:error, %{"code" => code} = error}) when is_integer(code) do
    text = if is_binary(error["message"]), do: ": " <> String.slice(error["message"], 0, @max_characters)

    Finding.error(
      "#{who} answers tools/list with error #{code}#{text}",
      "Look for this error in the log of the server. If it wants to know who asks, name somebody with --as."
    )
  end

  defp answered(who, _no_answer),
    do: Finding.error("#{who} answers tools/list with something else than tools", "Look into the log of the server.")

  defp slow(who, took, %{slow_ms: slow_ms}) when took <= slow_ms, do: Finding.ok("#{who} starts in #{took} ms")

  defp slow(who, took, _patience) do
    Finding.warning(
      "#{who} takes #{took} ms to start, and some clients wait no more than 10 seconds",
      "Run `mix compile` before a client starts it, or give the client a release."
    )
  end

  defp noise(who, mark) do
    receive do
      {^mark, _line} ->
        [
          Finding.error(
            "#{who} writes to stdout what is no message, and clients stop reading there",
            "Start it with `mix mcp.stdio` or `McpServer.Stdio.run/2`, which move all other output to stderr."
          )
        ]
    after
      0 -> []
    end
  end
end
