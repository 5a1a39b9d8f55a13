defmodule McpServer.Test.Client do
  @moduledoc false
  # The client of `McpServer.Test`, with functions for tests: it sends messages unchanged, valid or not.

  alias McpServer.{Auth, Client, JSON}
  alias McpServer.Client.Http.Headers

  @type t :: Client.t()

  @doc "Opens a transport to the router, and a session for revisions that have one."
  @spec open(module(), keyword()) :: t()
  def open(router, options) do
    case Keyword.pop(options, :url) do
      {nil, options} -> Client.open({:router, router}, options |> Keyword.delete(:headers) |> with_auth())
      # A test may look for notifications whenever it likes, so the link waits for nothing.
      {url, options} -> Client.open({:url, url}, [listen: true, paced?: false] ++ options)
    end
  end

  # The claims of the token are passed together with the principal.
  defp with_auth(options) do
    {auth, options} = Keyword.pop(options, :auth)

    if auth,
      do: Keyword.put(options, :principal, struct!(Auth, [principal: options[:principal]] ++ auth)),
      else: options
  end

  defdelegate configure(client, options), to: Client
  defdelegate close(client), to: Client
  defdelegate call(client, method, params), to: Client
  defdelegate exchange(client, method, params), to: Client
  defdelegate complete(client, message), to: Client
  defdelegate push(client, message), to: Client

  @doc "The headers and the body of a request to an endpoint."
  @spec http_request(String.t(), map(), keyword()) :: {[{String.t(), String.t()}], String.t()}
  def http_request(method, params, options) do
    message = Client.stateless(%{"id" => 1, "method" => method, "params" => params}, options)
    {Headers.of_post(message), JSON.encode!(message)}
  end

  @doc """
  Sends a message unchanged and returns its response. `:none` for a message without a response.
  """
  @spec raw(t(), binary() | map()) :: map() | [map()] | :none | {:input_required, [map()]}
  def raw(client, message) when is_map(message) do
    message = complete(client, message)
    raw(client, JSON.encode!(message))
  end

  def raw(client, line) when is_binary(line) do
    Client.push_event(client, {:lines, [line]})

    case JSON.decode(line) do
      {:ok, %{"id" => id, "method" => _method}} when is_integer(id) or is_binary(id) ->
        Client.await_answer(client, id, &(is_list(&1) or (answer?(&1) and &1["id"] in [id, nil])))

      {:ok, batch} when is_list(batch) and batch != [] ->
        before_ping(client, Enum.any?(batch, &match?(%{"id" => _, "method" => _}, &1)))

      _no_answer_expected ->
        before_ping(client, false)
    end
  end

  # The core answers some messages itself, before the ping that follows. So after the ping's response no other one
  # comes. A batch that runs handlers may take longer.
  defp before_ping(client, true), do: Client.await(client, &(is_list(&1) or answer?(&1)))

  defp before_ping(client, false) do
    id = "ping-#{System.unique_integer([:positive])}"
    push(client, %{"jsonrpc" => "2.0", "id" => id, "method" => "ping"})

    case Client.await(client, &(is_list(&1) or answer?(&1))) do
      %{"id" => ^id} ->
        :none

      answer ->
        Client.await(client, &match?(%{"id" => ^id}, &1))
        answer
    end
  end

  defp answer?(message), do: is_map(message) and not is_map_key(message, "method")
end
