defmodule McpServer.Bridge do
  @moduledoc false
  # A server over stdio that forwards to a server over HTTP, for clients that can only start a command. It interprets no
  # methods: messages go to the link unchanged, and answers are written unchanged. While the client does not read, the
  # write blocks, no message is taken, and so the server has to wait.

  alias McpServer.Client.{Error, Http, Link}
  alias McpServer.{JSON, JsonRpc}
  alias McpServer.Stdio.{Exit, Reader, Takeover, Writer}

  @max_line_bytes 64 * 1024 * 1024
  # Milliseconds: how long to retry a restarting server, and how long open requests may take after the end.
  @retry_ms 20_000
  @drain_ms 5_000

  @doc """
  Serves until the client disconnects, and stops the VM. Options: `:url`, `:headers` (pairs), `:tls` (as for `:ssl`).
  """
  @spec run(keyword()) :: no_return()
  def run(options) do
    {:ok, reader, output} = Takeover.ensure()
    :ok = Reader.start(reader, @max_line_bytes)
    :ok = Reader.credit(reader)
    reference = make_ref()
    given = [owner: self(), reference: reference, listen: true, retry_ms: @retry_ms, drain_ms: @drain_ms]
    {:ok, link} = Http.start_link(given ++ options)
    loop(%{reader: reader, writer: Writer.open(reader, output), link: link, reference: reference})
  end

  defp loop(%{reader: reader, reference: reference} = state) do
    receive do
      {:mcp_stdin, ^reader, {:lines, lines}} ->
        forward(state, {:lines, lines})
        :ok = Reader.credit(reader)
        loop(state)

      {:mcp_stdin, ^reader, :too_long} ->
        :ok = Reader.credit(reader)
        loop(write(state, refusal(nil, "the message is longer than #{@max_line_bytes} bytes")))

      # The end of stdin, or a read error.
      {:mcp_stdin, ^reader, _end} ->
        forward(state, :eof)
        loop(state)

      {:mcp_client, ^reference, {:failed, id, %Error{message: message}}} ->
        loop(write(state, refusal(id, message)))

      {:mcp_client, ^reference, {:closed, _reason}} ->
        stop()

      {:mcp_client, ^reference, message, receipt} ->
        :ok = Link.taken(receipt)
        loop(write(state, message))

      # An answer of the link itself.
      {:mcp_client, ^reference, message} ->
        loop(write(state, message))
    end
  end

  defp forward(state, event), do: send(state.link, {:mcp_client_in, state.reference, event})

  defp refusal(id, text) do
    error = %{"code" => JsonRpc.Error.code(:internal_error), "message" => text}
    %{"jsonrpc" => "2.0", "id" => id, "error" => error}
  end

  defp write(state, message) do
    case Writer.write(state.writer, [JSON.encode!(message), ?\n]) do
      {:ok, writer} -> %{state | writer: writer}
      {:error, :closed} -> stop()
    end
  end

  @spec stop() :: no_return()
  defp stop do
    Exit.run(:stop)
    Process.sleep(:infinity)
  end
end
