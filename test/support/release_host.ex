defmodule McpServer.ReleaseHost do
  # A host of releases on loopback. For each request it calls a function with the path. The function returns
  # `{status, headers, body}`, `{:bytes, enumerable}` for raw bytes followed by a close, or `:hang` to send nothing.
  @moduledoc false

  @type answer :: {pos_integer, [{String.t(), String.t()}], iodata} | {:bytes, Enumerable.t()} | :hang

  @doc "Starts the host, with TLS if it gets TLS options. It ends with the process that starts it. Returns its URL."
  @spec start((String.t() -> answer), keyword) :: String.t()
  def start(answer, tls \\ []) do
    host = self()
    # The listening socket closes with its process.
    spawn_link(fn -> listen(host, answer, tls) end)

    receive do
      {:listening, port} when tls == [] -> "http://127.0.0.1:#{port}"
      {:listening, port} -> "https://localhost:#{port}"
    end
  end

  @doc "The function that serves the files of a folder."
  @spec folder(Path.t()) :: (String.t() -> answer)
  def folder(folder) do
    fn "/" <> name ->
      case File.read(Path.join(folder, Path.basename(name))) do
        {:ok, bytes} -> {200, [], bytes}
        {:error, _reason} -> {404, [], "no such file"}
      end
    end
  end

  defp listen(host, answer, tls) do
    {:ok, listener} = :gen_tcp.listen(0, [:binary, active: false, ip: {127, 0, 0, 1}])
    {:ok, port} = :inet.port(listener)
    send(host, {:listening, port})
    accept(listener, answer, tls)
  end

  defp accept(listener, answer, tls) do
    {:ok, socket} = :gen_tcp.accept(listener)
    connection = spawn_link(fn -> serve(receive(do: (:go -> socket)), answer, tls) end)
    :ok = :gen_tcp.controlling_process(socket, connection)
    send(connection, :go)
    accept(listener, answer, tls)
  end

  defp serve(socket, answer, []), do: exchange({:gen_tcp, socket}, answer)

  # A client that does not trust the certificate ends the handshake.
  defp serve(socket, answer, tls) do
    with {:ok, secured} <- :ssl.handshake(socket, tls), do: exchange({:ssl, secured}, answer)
  end

  defp exchange({transport, socket}, answer) do
    "GET " <> rest = head(transport, socket, "")
    [path | _rest] = String.split(rest, " ")
    write({transport, socket}, answer.(path))
    transport.close(socket)
  end

  defp head(transport, socket, read) do
    if String.contains?(read, "\r\n\r\n") do
      read
    else
      {:ok, more} = transport.recv(socket, 0)
      head(transport, socket, read <> more)
    end
  end

  defp write({transport, socket}, {status, headers, body}) do
    size = {"content-length", "#{IO.iodata_length(body)}"}
    lines = for {name, value} <- [size | headers], do: [name, ": ", value, "\r\n"]
    transport.send(socket, ["HTTP/1.1 #{status} X\r\n", lines, "\r\n", body])
  end

  # The client may have closed.
  defp write({transport, socket}, {:bytes, parts}), do: Enum.find(parts, &(transport.send(socket, &1) != :ok))

  # Waits until the client closes.
  defp write({transport, socket}, :hang), do: transport.recv(socket, 0)
end
