defmodule McpServer.Http.Resources do
  @moduledoc false
  # The `resources:` of `McpServer.HttpServer`: stored results beside the messages, on the same listener.

  alias McpServer.DualResponse.Rest
  alias McpServer.Http.{Desk, Desks, Exchange, Mount, Sink}
  alias McpServer.DualResponse.Rest.Endpoint
  alias McpServer.HttpRequest
  alias McpServer.Protocol.HTTP

  @doc """
  The endpoint, `nil` where nothing is said of one.

  Raises `ArgumentError` that says what was given and what is allowed.
  """
  @spec rest!(term(), Mount.t(), %{atom() => term()}) :: Rest.t() | nil
  def rest!(nil, _mount, _options), do: nil
  def rest!({path, server}, mount, options), do: rest!([path: path, server: server], mount, options)

  def rest!(resources, mount, options) do
    Keyword.keyword?(resources) ||
      raise ArgumentError, "expected :resources to be {path, server} or a keyword list, got: #{inspect(resources)}"

    {path, own} = Keyword.pop(resources, :path, "/resources")
    check_path!(path, options.path)

    [metadata_url: HTTP.metadata_url(mount.policy)]
    |> Keyword.merge(Keyword.new(Map.take(options, [:allowed_hosts, :allowed_origins])))
    |> Keyword.merge(own)
    |> Keyword.put(:prefix, path)
    |> own_metadata()
    |> identified(mount.identify)
    |> Rest.new()
  end

  # What the endpoint says of itself goes before what the server says.
  defp own_metadata(options) do
    if options[:resource_metadata], do: Keyword.delete(options, :metadata_url), else: options
  end

  defp check_path!(path, mcp) do
    (is_binary(path) and path != "" and not below?(mcp, path) and not below?(path, mcp)) ||
      raise ArgumentError, "expected :resources to have a path of its own, beside #{mcp}, got: #{inspect(path)}"
  end

  defp below?(path, other), do: path == other or String.starts_with?(path, other <> "/")

  # Who may not call a tool may not fetch its results either.
  defp identified(options, nil), do: options

  defp identified(options, hook) do
    if options[:identify] || options[:authorize],
      do: options,
      else: Keyword.put(options, :identify, &identify(hook, &1))
  end

  defp identify(hook, request) do
    case Mount.call_hook(hook, request) do
      {:ok, principal} -> %{subject: principal}
      {:error, _reason} -> {:error, :unauthorized}
    end
  end

  @doc "Serves a request for a stored result; its head is still to be judged."
  @spec serve(Mount.t(), Sink.t()) :: Sink.t()
  def serve(%{rest: rest, id: id}, sink) do
    head = Sink.head(sink)

    with {:ok, wanted} <- Endpoint.check_head(rest.endpoint, head),
         {:ok, selection, sink} <- select(rest, wanted, sink) do
      answer(Desks.whereis(id), wanted, selection, caller(rest, head), sink)
    else
      {:answer, status, headers, body} -> Sink.reply(sink, status, headers, body)
      {:refused, answer, sink} -> reply(sink, answer)
      {:closed, sink} -> sink
    end
  end

  defp select(rest, {:fetch, _id, _form, _capability} = wanted, sink) do
    case Sink.read_body(sink, rest.max_body_bytes) do
      {:ok, body, sink} -> selected(Rest.select(rest, wanted, body), sink)
      {:error, :closed, sink} -> {:closed, sink}
      {:error, reason, sink} -> {:refused, refusal(reason, rest), sink}
    end
  end

  defp select(_rest, _wanted, sink), do: {:ok, nil, sink}

  defp selected({:ok, selection}, sink), do: {:ok, selection, sink}
  defp selected({:answer, status, headers, body}, sink), do: {:refused, {status, headers, body}, sink}

  defp refusal(:too_large, rest), do: Endpoint.refuse(:payload_too_large, rest.max_body_bytes)
  defp refusal(:malformed, _rest), do: Endpoint.refuse(:malformed)
  defp refusal(:full, _rest), do: Endpoint.refuse(:overloaded, 1)
  defp refusal(:timeout, _rest), do: Endpoint.refuse(:request_timeout)

  defp caller(%{identify: nil, authorize: nil}, _head), do: nil
  defp caller(_rest, head), do: HttpRequest.new(head)

  defp answer(nil, _wanted, _selection, _caller, sink), do: reply(sink, Endpoint.refuse(:overloaded, 1))

  defp answer(desk, wanted, selection, caller, sink) do
    exchange = Exchange.new()
    Desk.answer(desk, exchange, wanted, selection, caller)
    Exchange.run(exchange, sink, desk, %{answer: fn -> Endpoint.refuse(:internal_error) end, stream: :cut})
  end

  defp reply(sink, {status, headers, body}), do: Sink.reply(sink, status, headers, body)
end
