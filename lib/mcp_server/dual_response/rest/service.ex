defmodule McpServer.DualResponse.Rest.Service do
  @moduledoc false
  # An endpoint under HTTP: passes requests from a `Sink` to the endpoint's dispatcher, and responses back.

  alias McpServer.DualResponse.Rest
  alias McpServer.DualResponse.Rest.{Dispatcher, Endpoint}
  alias McpServer.Http.{Exchange, Route, Sink, Usage}
  alias McpServer.HttpRequest

  @doc "The endpoint for the options and the path of a route."
  @spec new(term(), Route.site()) :: Rest.t()
  def new(options, site) do
    Keyword.keyword?(options) || raise ArgumentError, "expected a keyword list, got: #{inspect(options)}"

    rest =
      site
      |> Map.take([:allowed_hosts, :allowed_origins, :metadata_url])
      |> Keyword.new()
      |> Keyword.merge(options)
      |> Keyword.put(:prefix, site.path)
      |> own_metadata()
      |> identified(site.identify)
      |> Rest.new()

    %{rest | id: site.id, supervised?: site.supervised?}
  end

  # `resource_metadata:` of the endpoint overrides the metadata URL of the server.
  defp own_metadata(options) do
    if options[:resource_metadata], do: Keyword.delete(options, :metadata_url), else: options
  end

  # A client that may not call tools may not fetch their results either.
  defp identified(options, nil), do: options

  defp identified(options, identify) do
    if options[:identify] || options[:authorize],
      do: options,
      else: Keyword.put(options, :identify, identify)
  end

  @doc "Serves a request for a stored result. The head is not yet checked."
  @spec call(Sink.t(), Rest.t()) :: Sink.t()
  def call(sink, rest) do
    head = Sink.head(sink)

    with {:ok, wanted, cors_headers} <- Endpoint.check_head(rest.endpoint, head),
         sink = %{sink | cors_headers: cors_headers},
         {:ok, selection, sink} <- select(rest, wanted, sink) do
      answer(Dispatcher.find(rest), wanted, selection, caller(rest, head), sink)
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
      {:error, reason, sink} -> {:refused, refusal(reason, rest, sink), sink}
    end
  end

  defp select(_rest, _wanted, sink), do: {:ok, nil, sink}

  defp selected({:ok, selection}, sink), do: {:ok, selection, sink}
  defp selected({:answer, status, headers, body}, sink), do: {:refused, {status, headers, body}, sink}

  defp refusal(:too_large, rest, _sink), do: Endpoint.refuse(:payload_too_large, rest.max_body_bytes)
  defp refusal(:malformed, _rest, _sink), do: Endpoint.refuse(:malformed)
  defp refusal(:full, _rest, sink), do: Endpoint.refuse(:overloaded, Usage.retry_after(sink.account))
  defp refusal(:timeout, _rest, _sink), do: Endpoint.refuse(:request_timeout)
  defp refusal(:consumed, _rest, _sink), do: Endpoint.refuse(:internal_error)

  defp caller(%{identify: nil, authorize: nil}, _head), do: nil
  defp caller(_rest, %{plug: conn}), do: conn
  defp caller(_rest, head), do: HttpRequest.new(head)

  # The dispatcher is being restarted.
  defp answer(nil, _wanted, _selection, _caller, sink), do: reply(sink, Endpoint.refuse(:overloaded, 1))

  defp answer(dispatcher, wanted, selection, caller, sink) do
    exchange = Exchange.new()
    Dispatcher.answer(dispatcher, exchange, wanted, selection, {caller, Sink.peer(sink), Sink.callers(sink)})
    # The process of the request keeps its place until a long page is written.
    terms = %{client: :none, answer: fn -> Endpoint.refuse(:internal_error) end, stream: :cut}
    Exchange.run(exchange, sink, dispatcher, terms)
  end

  defp reply(sink, {status, headers, body}), do: Sink.reply(sink, status, headers, body)
end
