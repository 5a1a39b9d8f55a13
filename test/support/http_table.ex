defmodule McpServer.HttpTable do
  # One table of requests with their responses, for both servers.
  #
  # A row is `%{name, req, session, request, status, headers, body, only}`. `req` are the ids of its requirements.
  # `session` is the revision of a session that is opened first. Its id replaces `:session` in the request. `request`
  # may be a function if the request is too large to keep. `headers` are exact values, `nil` for a header that must be
  # missing. `body` is one of
  #
  #   :empty                     nothing at all
  #   {:error, code}             a JSON-RPC error without the member `id`
  #   {:error, code, id}         a JSON-RPC error with that id; `nil` is `null`
  #   {:error, code, id, data}   the same, with exactly that data
  #   {:result, id, members}     a result with at least these members
  #   {:batch, [body]}           an array of them in any order
  @moduledoc false

  import ExUnit.Assertions

  alias McpServer.{HttpClient, HttpPeer, HttpRequests, HttpResponse, HttpSession}
  alias McpServer.HttpTable.{Agreement, Bodies, Front, Limits, Sessions, Stateless}

  @doc "All rows."
  def rows do
    Enum.concat([
      Front.rows(),
      Bodies.rows(),
      Limits.rows(),
      Stateless.rows(),
      Agreement.rows(),
      Sessions.rows()
    ])
  end

  @doc "The row with that name."
  def fetch(name), do: Enum.find(rows(), &(&1.name == name)) || raise("there is no row #{inspect(name)}")

  @doc "One row. The name may be `{req, name}` with one requirement id or a list."
  def row(name, request, status, body, options \\ []) do
    {req, name} = if is_binary(name), do: {[], name}, else: name

    %{
      name: name,
      req: List.wrap(req),
      request: request,
      status: status,
      body: body,
      session: options[:session],
      headers: options[:headers] || [],
      only: options[:only]
    }
  end

  @doc "Sends the request of a row and compares the response."
  def check(server, row) do
    session = row.session && HttpSession.open(server, row.session)
    request = request(row, session)
    {peer, response} = HttpClient.open(server, request)
    messages = HttpClient.messages(peer, response)
    HttpPeer.close(peer)

    assert response.status == row.status, "status #{response.status}: #{inspect(response)}"
    for {name, value} <- row.headers, do: assert({name, HttpResponse.header(response, name)} == {name, value})
    check_head(response)
    check_body(row.body, messages, response)
    if session, do: HttpSession.delete(session)
    response
  end

  defp request(%{request: request} = row, session) when is_function(request, 0),
    do: request(%{row | request: request.()}, session)

  defp request(%{request: request}, nil), do: request
  defp request(%{request: request}, session), do: HttpRequests.of_session(request, session.id)

  # The checks of every response.
  defp check_head(response) do
    names = for {name, _value} <- response.headers, do: name

    # No response permits web pages to read it.
    refute Enum.any?(names, &String.starts_with?(&1, "access-control-"))
    if HttpResponse.events?(response), do: assert(HttpResponse.header(response, "x-accel-buffering") == "no")
  end

  defp check_body(body, messages, response) do
    check_messages(body, messages)
    if body == :empty, do: assert(response.body == "")
  end

  @doc "The result of a call of `echo` without its argument `text`."
  def unfit do
    text = "Invalid arguments for tool 'echo':\n- (root): must be an object with the property \"text\" (required)"
    %{"isError" => true, "content" => [%{"type" => "text", "text" => text}]}
  end

  @doc "Compares the received messages with the body of a row."
  def check_messages(:empty, messages), do: assert(messages == [])

  def check_messages({:batch, bodies}, [answers]) do
    assert length(answers) == length(bodies)
    for body <- bodies, do: assert(Enum.any?(answers, &fits?(body, &1)), "nothing fits #{inspect(body)}")
  end

  def check_messages(body, [message]), do: assert(fits?(body, message), "unexpected: #{inspect(message)}")
  def check_messages(body, messages), do: flunk("#{inspect(body)} does not fit #{inspect(messages)}")

  defp fits?({:error, code}, message),
    do: not is_map_key(message, "id") and match?(%{"error" => %{"code" => ^code}}, message)

  defp fits?({:error, code, id}, message), do: match?(%{"id" => ^id, "error" => %{"code" => ^code}}, message)

  defp fits?({:error, code, id, data}, message),
    do: match?(%{"id" => ^id, "error" => %{"code" => ^code, "data" => ^data}}, message)

  defp fits?({:result, id, members}, message) do
    match?(%{"id" => ^id, "result" => %{}}, message) and
      Enum.all?(members, fn {name, value} -> message["result"][name] == value end)
  end
end
