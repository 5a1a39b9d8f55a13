defmodule McpServer.Client.Http.Exchange do
  @moduledoc false
  # Sends one message over HTTP, and receives its answer, its stream of messages or the rest of a cut stream. Each
  # request runs in a separate process.

  alias McpServer.Client.{Error, Events, Lenient}
  alias McpServer.Client.Http.{Batch, Headers}
  alias McpServer.DualResponse.Client.Failure
  alias McpServer.Fetch
  alias McpServer.Fetch.{Body, Socket}
  alias McpServer.{JSON, Limit}

  @typedoc """
  `send` gets each message as it arrives. `retry_ms` is how long a server that refuses connections is retried, `timeout`
  the total time of all waits for an answer, both in milliseconds. `held_bytes` counts the answers that `hold/4` keeps.
  The other fields are the link's.
  """
  @type context :: %{
          required(:url) => String.t(),
          required(:headers) => [{String.t(), String.t()}],
          required(:tls) => keyword(),
          required(:session) => Headers.session(),
          required(:retry_ms) => non_neg_integer(),
          required(:timeout) => pos_integer(),
          required(:send) => (term() -> term()),
          optional(:held_bytes) => :atomics.atomics_ref()
        }

  @type outcome :: {:ok, headers :: [{String.t(), String.t()}]} | {:error, Error.t() | :session_lost}

  @max_body_bytes 64 * 1024 * 1024
  # The total time of all waits for a stream: a week, for subscriptions.
  @timeout 7 * 24 * 3600 * 1000
  # The timeout of messages without an answer.
  @short_timeout 30_000
  @reconnect_ms 1_000
  @reconnects 100
  @retry_every 200

  @doc "The timeout of a request that nobody waits for: a week."
  @spec timeout() :: pos_integer()
  def timeout, do: @timeout

  @doc "Sends a message. `:ok` means that all its answers have been delivered."
  @spec post(context(), map() | Batch.t(), Headers.parameters()) :: outcome()
  def post(context, message, parameters) do
    headers = Headers.of_post(message, parameters, context.session) ++ context.headers
    timeout = if request?(message), do: context.timeout, else: @short_timeout
    request = request(:post, context.url, headers, JSON.encode!(message), timeout)

    case send_request(request, context, context.retry_ms) do
      {:ok, response} -> response(response, context, message)
      {:error, reason} -> {:error, unreachable(context, reason)}
    end
  end

  @doc """
  Sends a message. Answers for which `hold?` is true are not delivered, but returned with the outcome: at most 64 MiB.
  Nothing is read after the last answer.
  """
  @spec hold(context(), map() | Batch.t(), Headers.parameters(), (term() -> boolean())) :: {outcome(), [term()]}
  def hold(%{send: deliver} = context, message, parameters, hold?) do
    here = self()
    mark = make_ref()
    bytes = :atomics.new(1, [])

    hold = fn received ->
      if hold?.(received) do
        :atomics.add(bytes, 1, Limit.held_bytes(received))
        send(here, {mark, received})
      else
        deliver.(received)
      end
    end

    outcome = context |> Map.merge(%{send: hold, held_bytes: bytes}) |> post(message, parameters)
    {outcome, held(mark)}
  end

  defp held(mark) do
    receive do
      {^mark, message} -> [message | held(mark)]
    after
      0 -> []
    end
  end

  @doc "Listens to the session's own stream, until the session ends."
  @spec listen(context()) :: :ok
  def listen(context), do: listen(context, nil, @reconnects)

  defp listen(_context, _id, 0), do: :ok

  defp listen(context, id, left) do
    case get(context, id) do
      {:ok, events, _open} ->
        Process.sleep(events.retry || @reconnect_ms)
        listen(context, events.id || id, left - 1)

      # The server has no such stream, or is gone. The next message will show it.
      {:error, _status} ->
        :ok
    end
  end

  @doc "Ends the session."
  @spec delete(context()) :: :ok
  def delete(context) do
    headers = Headers.session(context.session) ++ context.headers
    _whatever = Fetch.fetch(%{request(:delete, context.url, headers, nil, 2_000) | stream: false}, context.tls)
    :ok
  end

  defp request(method, url, headers, body, timeout) do
    %{
      method: method,
      url: url,
      headers: headers,
      body: body,
      timeout: timeout,
      max_body_bytes: @max_body_bytes,
      stream: true,
      addresses: :any
    }
  end

  # After a refused connection nothing was sent, so the request can be repeated.
  defp send_request(request, context, left) do
    case Fetch.fetch(request, context.tls) do
      {:error, :econnrefused} when left > 0 ->
        Process.sleep(@retry_every)
        send_request(request, context, left - @retry_every)

      outcome ->
        outcome
    end
  end

  defp response(%{status: status} = response, context, message) when status in 200..299 do
    case media(response) do
      "text/event-stream" -> stream(response, context, message)
      "application/json" -> body(response, context, message)
      _nothing -> nothing(response, message)
    end
  end

  defp response(%{status: status} = response, context, _message) when status in [401, 403] do
    Socket.close(response.body.socket)
    said = if status == 401, do: "401: it wants other credentials", else: "403: these credentials do not suffice"
    {:error, Error.new(:refused, "#{context.url} answers #{said}", status)}
  end

  defp response(%{status: status} = response, context, message) do
    if status == 404 and of_session?(context, message) do
      Socket.close(response.body.socket)
      {:error, :session_lost}
    else
      refusal(response, context, message)
    end
  end

  # With a session, 404 means that the session is lost. The stateless era answers 404 to unknown methods.
  defp of_session?(%{session: %{id: nil}}, _message), do: false
  defp of_session?(_context, batch) when is_list(batch), do: true
  defp of_session?(_context, message), do: Headers.revision(message) == nil

  defp refusal(%{status: status} = response, context, message) do
    with {:ok, text} <- whole(response),
         {:ok, %{"error" => _error} = refusal} <- Lenient.decode(text),
         {:ok, answer} <- addressed(refusal, message) do
      context.send.(answer)
      {:ok, response.headers}
    else
      _no_answer -> {:error, Error.new(:no_answer, "#{context.url} answers with status #{status}", status)}
    end
  end

  # The refusal of a batch has no request id.
  defp addressed(refusal, batch) when is_list(batch), do: {:ok, refusal}
  defp addressed(refusal, %{"id" => id}), do: {:ok, Map.put(refusal, "id", id)}
  defp addressed(_refusal, _message), do: :none

  defp nothing(%{status: status} = response, message) do
    Socket.close(response.body.socket)

    if request?(message),
      do: {:error, Error.new(:no_answer, "the server answers a request with status #{status} and no message", status)},
      else: {:ok, response.headers}
  end

  defp body(response, context, message) do
    with {:ok, text} <- whole(response),
         {:ok, received} <- decode(text),
         {:ok, answer} <- answer(received, message, context) do
      context.send.(answer)
      {:ok, response.headers}
    end
  end

  defp answer(%{"error" => _error} = refusal, batch, _context) when is_list(batch), do: addressed(refusal, batch)

  defp answer(%{"error" => _error, "id" => nil} = refusal, %{"id" => _id} = message, _context),
    do: addressed(refusal, message)

  # What is no answer to the request would leave its sender waiting.
  defp answer(received, message, context) do
    if is_list(received) == is_list(message) and unanswered(Batch.ids(message), received) == [],
      do: {:ok, received},
      else: {:error, Error.new(:no_answer, "#{context.url} sends something else than the answer to the request")}
  end

  defp decode(text) do
    with {:error, error} <- Lenient.decode(text), do: {:error, Error.unreadable(error)}
  end

  defp stream(response, context, message) do
    case events(response, context, Batch.ids(message)) do
      {:ok, events, [_ | _] = open} when events.id != nil ->
        resume(context, open, events, @reconnects, response.headers)

      {:ok, _events, []} ->
        {:ok, response.headers}

      {:ok, _events, _open} ->
        {:error, cut()}

      {:error, error} ->
        {:error, error}
    end
  end

  # A stream that ends without the answer is resumed with the last event's id, if the server sent one.
  defp resume(_context, _open, _events, 0, _headers), do: {:error, cut()}

  defp resume(context, open, events, left, headers) do
    Process.sleep(events.retry || @reconnect_ms)

    case get(context, events.id, open) do
      {:ok, _events, []} -> {:ok, headers}
      {:ok, more, open} -> resume(context, open, %{more | id: more.id || events.id}, left - 1, headers)
      {:error, error} -> {:error, error}
    end
  end

  defp request?(message), do: Batch.ids(message) != []

  defp cut, do: Error.new(:closed, "the server ended the stream before its answer")

  defp get(context, last_event_id, open \\ []) do
    headers =
      [{"accept", "text/event-stream"}] ++
        if(last_event_id, do: [{"last-event-id", last_event_id}], else: []) ++
        Headers.session(context.session) ++ context.headers

    case send_request(request(:get, context.url, headers, nil, @timeout), context, context.retry_ms) do
      {:ok, %{status: 200} = response} ->
        events(response, context, open)

      {:ok, %{status: status, body: body}} ->
        Socket.close(body.socket)
        {:error, Error.new(:no_answer, "#{context.url} answers with status #{status}", status)}

      {:error, reason} ->
        {:error, unreachable(context, reason)}
    end
  end

  # Delivers the messages of a stream, and returns the requests that are still open. A cut connection ends the stream:
  # the rest arrives after a reconnection. If a message could not be read, it was the missing answer.
  defp events(%{body: body}, context, open) do
    {outcome, events, {open, fault}} = events(body, %Events{}, {open, nil}, context)

    cond do
      outcome == :too_large -> {:error, Error.new(:protocol, "an event of the server is too large")}
      outcome == :too_much -> {:error, Error.new(:protocol, "the server sends too much before its answer")}
      open != [] and fault != nil -> {:error, fault}
      true -> {:ok, events, open}
    end
  end

  # What is held is delivered at the end, so a stream that goes on would keep its answer back.
  defp events(body, events, {[], _fault} = answered, %{held_bytes: _bytes}), do: ended(:over, body, events, answered)

  defp events(body, events, open, context) do
    with :ok <- room(context),
         {:ok, bytes, body} <- Body.next(body),
         {:ok, texts, events} <- Events.take(events, bytes) do
      events(body, events, Enum.reduce(texts, open, &event(&1, &2, context)), context)
    else
      {:error, reason} when reason in [:too_large, :too_much] -> ended(reason, body, events, open)
      _ended -> ended(:over, body, events, open)
    end
  end

  defp room(%{held_bytes: bytes}), do: if(:atomics.get(bytes, 1) <= @max_body_bytes, do: :ok, else: {:error, :too_much})
  defp room(_context), do: :ok

  defp ended(outcome, body, events, open) do
    Socket.close(body.socket)
    {outcome, events, open}
  end

  defp event("", open, _context), do: open

  defp event(text, {open, fault}, context) do
    case Lenient.decode(text) do
      {:ok, received} ->
        context.send.(received)
        {unanswered(open, received), fault}

      {:error, error} ->
        {open, fault || Error.unreadable(error)}
    end
  end

  # An array with an answer is the answer to the whole batch. It has no answers to cancelled requests.
  defp unanswered(open, batch) when is_list(batch),
    do: if(Enum.any?(batch, &(unanswered(open, &1) != open)), do: [], else: open)

  defp unanswered(open, %{"id" => id} = received) when not is_map_key(received, "method"), do: List.delete(open, id)
  defp unanswered(open, _received), do: open

  defp whole(%{body: body}) do
    read = Body.whole(body, @max_body_bytes)
    Socket.close(body.socket)
    with {:error, reason} <- read, do: {:error, Error.new(:closed, Exception.message(Failure.error(reason)))}
  end

  defp media(response) do
    for({"content-type", type} <- response.headers, do: type)
    |> List.first("")
    |> String.split(";")
    |> hd()
    |> String.trim()
    |> String.downcase()
  end

  defp unreachable(context, reason),
    do: Error.new(:unreachable, "#{context.url} cannot be reached: #{Exception.message(Failure.error(reason))}")
end
