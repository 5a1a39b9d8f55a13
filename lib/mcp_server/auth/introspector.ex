defmodule McpServer.Auth.Introspector do
  @moduledoc false
  # Asks one issuer about opaque tokens, for all mounts with the same client at it.
  #
  # Concurrent checks of one token share a request. After a failure of the issuer no request begins for a while. Each
  # request has a process, so it continues for the others when a check ends.

  use GenServer, restart: :temporary
  use McpServer.Outline

  require Logger

  alias McpServer.Auth.{Cache, Introspection, Processes}
  alias McpServer.{Outline, Quota}
  alias McpServer.Protocol.Auth

  # The number of concurrent requests, and of checks that may wait for one of them. All waiting checks together may be
  # fewer: each holds a place that the tokens of other issuers need.
  @max_requests 64
  @max_waiting 1_000
  # The longest pause after a failure of the issuer, in seconds.
  @most_backoff 60
  # Milliseconds: between log lines about answers, until a discovered endpoint is looked up again, and for the reply
  # after a request's deadline.
  @log_ms 5_000
  @endpoint_ms 3_600_000
  @reply_ms 1_000

  @doc """
  The grants of a token, by the issuer's answer. `client` is the address that has sent the token. With `most`, that many
  checks wait for the issuer at most.
  """
  @spec grant(Introspection.t(), String.t(), digest :: binary(), Quota.Client.t(), most :: pos_integer() | :any) ::
          {:ok, Auth.grant()} | Auth.refusal() | Processes.unavailable()
  def grant(%{source: source, policy: policy}, token, digest, client, most) do
    # After a user was disconnected, the answer to an earlier request does not count.
    key = {digest, policy, Cache.forgotten()}
    question = %{key: key, token: token, policy: policy, client: client, most: most, deadline: now() + source.timeout}
    Processes.ask(__MODULE__, source, question, source.timeout + @reply_ms)
  end

  @doc "Forgets the endpoint and the failures of an issuer. A test's issuer may have the port of an earlier one."
  @spec forget_url(String.t()) :: :ok
  def forget_url(url), do: Processes.stop_url(__MODULE__, url)

  @doc false
  def start_link({source, name}), do: GenServer.start_link(__MODULE__, source, name: name)

  # `requests` are the checks that wait for each request, by the request's key. `:endpoint` is the key of the request for
  # the issuer's metadata, which counts for no client. After a failure no request begins before `retry_at`.
  @impl true
  def init(source) do
    endpoint = if source.endpoint, do: {source.endpoint, :configured}
    quota = Quota.own(Quota.of_node())
    {:ok, %{source: source, endpoint: endpoint, quota: quota, requests: %{}, failures: 0, retry_at: nil, log_at: nil}}
  end

  @impl true
  def handle_call(question, from, state), do: {:noreply, check({question, from}, state)}

  defp check({question, _from} = check, state) do
    endpoint = endpoint(state)
    {key, client} = if endpoint, do: {question.key, question.client}, else: {:endpoint, nil}

    cond do
      crowded?(state, question.most) -> refuse(check, state)
      is_map_key(state.requests, key) -> wait(check, key, state)
      ahead?(state.retry_at) or map_size(state.requests) >= @max_requests -> refuse(check, state)
      Quota.take(state.quota, :introspections, client, 1) == :full -> refuse(check, state)
      true -> wait(check, key, request({key, client}, question, endpoint, state))
    end
  end

  defp crowded?(_state, :any), do: false

  defp crowded?(state, most),
    do: Enum.sum(for {_key, %{waiting: waiting}} <- state.requests, do: length(waiting)) >= most

  defp endpoint(%{endpoint: {url, :configured}}), do: url
  defp endpoint(%{endpoint: {url, until}}), do: if(now() < until, do: url)
  defp endpoint(%{endpoint: nil}), do: nil

  defp ahead?(time), do: time != nil and now() < time

  defp refuse({_question, from}, state) do
    GenServer.reply(from, Processes.unavailable())
    state
  end

  defp wait(check, key, state) do
    %{waiting: waiting} = state.requests[key]

    if length(waiting) < @max_waiting,
      do: put_in(state.requests[key].waiting, [check | waiting]),
      else: refuse(check, state)
  end

  defp request({key, client}, question, endpoint, %{source: source} = state) do
    options = [{:monitor, [tag: {:ended, key}]}]
    :erlang.spawn_opt(fn -> exit({:shutdown, send_request(source, endpoint, question)}) end, options)
    put_in(state.requests[key], %{failures: state.failures, client: client, waiting: []})
  end

  defp send_request(source, nil, %{deadline: deadline}), do: Introspection.endpoint(source, deadline)

  defp send_request(source, endpoint, %{token: token, policy: policy, deadline: deadline}) do
    Introspection.ask(source, endpoint, token, policy, deadline)
  catch
    # The VM would log the arguments of a function, which may be the token.
    _kind, reason -> {:error, :answer, "the request crashed: #{Outline.of(reason)}"}
  end

  @impl true
  def handle_info({{:ended, key}, _monitor, :process, _pid, reason}, state) do
    {request, requests} = Map.pop!(state.requests, key)
    :ok = Quota.give(state.quota, :introspections, request.client, 1)
    state = %{state | requests: requests}

    case reason do
      {:shutdown, {:ok, found}} -> {:noreply, found(key, found, request, %{state | failures: 0, retry_at: nil})}
      {:shutdown, {:error, scope, text}} -> {:noreply, failed(scope, text, request, state)}
      _killed -> {:noreply, failed(:answer, "the request was killed", request, state)}
    end
  end

  def handle_info(_message, state), do: {:noreply, state}

  defp found(:endpoint, url, request, state) do
    request.waiting |> Enum.reverse() |> Enum.reduce(%{state | endpoint: {url, now() + @endpoint_ms}}, &check/2)
  end

  defp found(_key, verdict, request, state) do
    for {_question, from} <- request.waiting, do: GenServer.reply(from, verdict)
    state
  end

  defp failed(scope, text, request, state) do
    state = if scope == :issuer, do: pause(text, request, state), else: report(text, state)
    Enum.reduce(request.waiting, state, &refuse/2)
  end

  # Requests that were already under way at the first failure report the same one.
  defp pause(_text, %{failures: before}, %{failures: failures} = state) when before != failures, do: state

  defp pause(text, _request, %{failures: failures} = state) do
    log(text, state)
    backoff = min(Integer.pow(2, min(failures, 6)), @most_backoff)
    %{state | failures: failures + 1, retry_at: now() + backoff * 1_000}
  end

  # A client that knows a token with such an answer must not fill the log.
  defp report(text, state) do
    if ahead?(state.log_at) do
      state
    else
      log(text, state)
      %{state | log_at: now() + @log_ms}
    end
  end

  defp log(text, %{source: source}), do: Logger.error("#{source.issuer} cannot be asked about tokens: #{text}")

  defp now, do: System.monotonic_time(:millisecond)
end
