# The parts of Plug that `McpServer.HttpPlug` needs, and a server below, for machines where neither can be installed:
# `Plug.Conn` with the functions that are called, over real sockets.
defmodule Plug.Conn.Unfetched do
  defstruct [:aspect]
end

defmodule Plug.Conn do
  @headers [{"cache-control", "max-age=0, private, must-revalidate"}]

  defstruct adapter: nil,
            assigns: %{},
            body_params: %Plug.Conn.Unfetched{aspect: :body_params},
            halted: false,
            host: "",
            method: "GET",
            path_info: [],
            port: 0,
            private: %{},
            query_string: "",
            remote_ip: nil,
            req_headers: [],
            request_path: "",
            resp_headers: @headers,
            scheme: :http,
            script_name: [],
            state: :unset,
            status: nil

  def assign(conn, key, value), do: %{conn | assigns: Map.put(conn.assigns, key, value)}
  def put_private(conn, key, value), do: %{conn | private: Map.put(conn.private, key, value)}
  def halt(conn), do: %{conn | halted: true}
  def get_req_header(conn, name), do: for({^name, value} <- conn.req_headers, do: value)
  def get_http_protocol(%{adapter: {adapter, state}}), do: adapter.get_http_protocol(state)

  def put_resp_header(conn, name, value),
    do: %{conn | resp_headers: List.keystore(conn.resp_headers, name, 0, {name, value})}

  def merge_resp_headers(conn, headers),
    do: Enum.reduce(headers, conn, fn {name, value}, conn -> put_resp_header(conn, name, value) end)

  def read_body(%{adapter: {adapter, state}} = conn, options \\ []) do
    {more, data, state} = adapter.read_req_body(state, options)
    {more, data, %{conn | adapter: {adapter, state}}}
  end

  def send_resp(%{state: :unset, adapter: {adapter, state}} = conn, status, body) do
    {:ok, _body, state} = adapter.send_resp(state, status, conn.resp_headers, body)
    %{conn | adapter: {adapter, state}, state: :sent, status: status}
  end

  def send_chunked(%{state: :unset, adapter: {adapter, state}} = conn, status) do
    {:ok, _body, state} = adapter.send_chunked(state, status, conn.resp_headers)
    %{conn | adapter: {adapter, state}, state: :chunked, status: status}
  end

  def chunk(%{state: :chunked, adapter: {adapter, state}} = conn, chunk) do
    with {:ok, _body, state} <- adapter.chunk(state, chunk), do: {:ok, %{conn | adapter: {adapter, state}}}
  end
end

defmodule McpServer.Test.StandInTimeout do
  # Bandit raises such an error if a body does not arrive in time.
  defexception message: "Body read timeout", plug_status: :request_timeout
end

defmodule McpServer.Test.StandInAdapter do
  # One request of a connection. `:body` is the unread part of its body.
  defstruct [:socket, :method, :body, buffer: "", close?: false, timeout: 15_000]

  def get_http_protocol(_request), do: :"HTTP/1.1"

  def read_req_body(request, options) do
    request = %{request | timeout: Keyword.get(options, :read_timeout, 15_000)}
    read(request, Keyword.get(options, :length, 8_000_000), [])
  end

  defp read(%{body: 0} = request, _most, read), do: {:ok, IO.iodata_to_binary(read), request}
  defp read(request, most, read) when most <= 0, do: {:more, IO.iodata_to_binary(read), request}

  defp read(%{body: :chunked} = request, most, read) do
    {line, request} = line(request)
    [size | _extensions] = String.split(line, ";")

    case String.to_integer(size, 16) do
      0 -> read(%{elem(line(request), 1) | body: 0}, most, read)
      size -> read(%{request | body: {:chunk, size}}, most, read)
    end
  end

  defp read(%{body: {:chunk, 0}} = request, most, read),
    do: read(%{elem(line(request), 1) | body: :chunked}, most, read)

  defp read(%{body: {:chunk, size}} = request, most, read) do
    {data, request} = take(request, min(size, most))
    read(%{request | body: {:chunk, size - byte_size(data)}}, most - byte_size(data), [read | data])
  end

  defp read(%{body: size} = request, most, read) do
    {data, request} = take(request, min(size, most))
    read(%{request | body: size - byte_size(data)}, most - byte_size(data), [read | data])
  end

  defp line(request) do
    case String.split(request.buffer, "\r\n", parts: 2) do
      [line, rest] -> {line, %{request | buffer: rest}}
      [_part] -> request |> more() |> line()
    end
  end

  defp take(%{buffer: ""} = request, most), do: request |> more() |> take(most)

  defp take(%{buffer: buffer} = request, most) do
    size = min(byte_size(buffer), most)
    {data, rest} = :erlang.split_binary(buffer, size)
    {data, %{request | buffer: rest}}
  end

  # If the client closes while it sends, the request ends.
  defp more(request) do
    case :gen_tcp.recv(request.socket, 0, request.timeout) do
      {:ok, data} -> %{request | buffer: request.buffer <> data}
      {:error, :timeout} -> raise McpServer.Test.StandInTimeout
      {:error, _reason} -> exit(:normal)
    end
  end

  def send_resp(request, status, headers, body) do
    length = {"content-length", to_string(IO.iodata_length(body))}
    body = if request.method == "HEAD", do: "", else: body
    :gen_tcp.send(request.socket, [head(status, [length | headers]), body])
    {:ok, nil, note_close(request, headers)}
  end

  def send_chunked(request, status, headers) do
    :gen_tcp.send(request.socket, head(status, [{"transfer-encoding", "chunked"} | headers]))
    {:ok, nil, note_close(request, headers)}
  end

  def chunk(request, data) do
    size = data |> IO.iodata_length() |> Integer.to_string(16)
    with :ok <- :gen_tcp.send(request.socket, [size, "\r\n", data, "\r\n"]), do: {:ok, nil, request}
  end

  def head(status, headers),
    do: ["HTTP/1.1 #{status} \r\n", for({name, value} <- headers, do: [name, ": ", value, "\r\n"]), "\r\n"]

  defp note_close(request, headers),
    do: %{request | close?: request.close? or List.keyfind(headers, "connection", 0) == {"connection", "close"}}
end

defmodule McpServer.Test.StandInServer do
  # HTTP/1.1 with keep-alive and one process per connection. Everything ends with the process that started it.
  alias McpServer.Test.StandInAdapter

  @max_head 64 * 1024
  @max_headers 100
  @idle 60_000

  def start_link({plug, options}) do
    options = plug.init(options)
    {:ok, listener} = :gen_tcp.listen(0, [:binary, ip: {127, 0, 0, 1}, active: false, nodelay: true, backlog: 1024])
    {:ok, port} = :inet.port(listener)
    {:ok, connections} = Task.Supervisor.start_link()
    acceptor = spawn_link(fn -> accept(listener, connections, &serve(&1, "", port, {plug, options})) end)
    :ok = :gen_tcp.controlling_process(listener, acceptor)
    {:ok, port}
  end

  defp accept(listener, connections, serve) do
    {:ok, socket} = :gen_tcp.accept(listener)
    {:ok, connection} = Task.Supervisor.start_child(connections, fn -> receive do: (:go -> serve.(socket)) end)
    :ok = :gen_tcp.controlling_process(socket, connection)
    send(connection, :go)
    accept(listener, connections, serve)
  end

  defp serve(socket, buffer, port, plug) do
    case read_head(socket, buffer) do
      {:ok, method, target, headers, buffer} ->
        request(socket, {method, target, headers, buffer}, port, plug)

      {:refuse, status} ->
        :gen_tcp.send(socket, StandInAdapter.head(status, [{"content-length", "0"}, {"connection", "close"}]))

      :closed ->
        :ok
    end
  end

  defp request(socket, {method, target, headers, buffer}, port, plug) do
    case body(headers) do
      {:ok, body} ->
        request = %StandInAdapter{socket: socket, method: method, body: body, buffer: buffer}
        request = call(conn(request, method, target, headers, port), plug)
        if request.close? or wants_close?(headers), do: :gen_tcp.close(socket), else: serve_next(request, port, plug)

      :error ->
        :gen_tcp.send(socket, StandInAdapter.head(400, [{"content-length", "0"}, {"connection", "close"}]))
    end
  end

  defp serve_next(request, port, plug) do
    case StandInAdapter.read_req_body(request, []) do
      {:ok, _rest, request} -> serve(request.socket, request.buffer, port, plug)
      {:more, _rest, request} -> :gen_tcp.close(request.socket)
    end
  end

  defp call(conn, {plug, options}) do
    %{state: state, adapter: {_adapter, request}} = plug.call(conn, options)
    if state == :chunked, do: StandInAdapter.chunk(request, "")
    request
  catch
    # Bandit and Cowboy answer so, too. Here the body names the crash, which a failed test then shows.
    kind, reason when reason != :normal ->
      %{adapter: {_adapter, request}} = conn
      body = Exception.format_banner(kind, reason, __STACKTRACE__)
      :gen_tcp.send(request.socket, [StandInAdapter.head(500, [{"content-length", "#{byte_size(body)}"}]), body])
      :erlang.raise(kind, reason, __STACKTRACE__)
  end

  defp conn(request, method, target, headers, port) do
    {path, query} =
      case String.split(target, "?", parts: 2) do
        [path, query] -> {path, query}
        [path] -> {path, ""}
      end

    # Built with `struct!/2`, because the real Plug has another struct.
    struct!(Plug.Conn,
      adapter: {StandInAdapter, request},
      host: host(headers),
      method: method,
      path_info: String.split(path, "/", trim: true),
      port: port,
      query_string: query,
      remote_ip: {127, 0, 0, 1},
      req_headers: headers,
      request_path: path
    )
  end

  defp host(headers) do
    with {"host", value} <- List.keyfind(headers, "host", 0, ""), do: String.replace(value, ~r/:\d*$/, "")
  end

  defp wants_close?(headers) do
    {_name, value} = List.keyfind(headers, "connection", 0, {"connection", ""})
    String.downcase(value) == "close"
  end

  defp body(headers) do
    case {values(headers, "content-length"), values(headers, "transfer-encoding")} do
      {[], []} ->
        {:ok, 0}

      {[], ["chunked"]} ->
        {:ok, :chunked}

      {[length], []} ->
        with {length, ""} when length >= 0 <- Integer.parse(length), do: {:ok, length}, else: (_ -> :error)

      _both_or_twice ->
        :error
    end
  end

  defp values(headers, name), do: for({^name, value} <- headers, do: value)

  defp read_head(socket, buffer) do
    case :binary.split(buffer, "\r\n\r\n") do
      [head, rest] when byte_size(head) <= @max_head -> parse_head(head, rest)
      [part] when byte_size(part) <= @max_head -> read_more(socket, part)
      _too_long -> {:refuse, 431}
    end
  end

  defp read_more(socket, buffer) do
    case :gen_tcp.recv(socket, 0, @idle) do
      {:ok, data} -> read_head(socket, buffer <> data)
      {:error, _reason} -> :closed
    end
  end

  defp parse_head(head, rest) do
    [first | lines] = String.split(head, "\r\n")
    headers = Enum.map(lines, &header/1)

    with [method, target, "HTTP/1.1"] <- String.split(first, " "),
         false <- :error in headers do
      if length(headers) > @max_headers, do: {:refuse, 431}, else: {:ok, method, target, headers, rest}
    else
      _malformed -> {:refuse, 400}
    end
  end

  defp header(line) do
    with [name, value] <- String.split(line, ":", parts: 2),
         true <- name =~ ~r/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/,
         false <- String.contains?(value, ["\r", "\n", "\0"]) do
      {String.downcase(name), String.trim(value)}
    else
      _malformed -> :error
    end
  end
end
