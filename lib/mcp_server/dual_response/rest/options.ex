defmodule McpServer.DualResponse.Rest.Options do
  @moduledoc false
  # The options of an endpoint, checked, and what is made of them once. `McpServer.DualResponse.Rest` documents them.

  require Logger

  alias McpServer.{JSON, Limit}
  alias McpServer.Protocol.HTTP
  alias McpServer.DualResponse.Rest.Endpoint

  @compile {:no_warn_undefined, Mix}

  @endpoint [:prefix, :allowed_hosts, :allowed_origins, :max_body_bytes, :default_limit, :max_limit]
  # What is counted, or the most that it can be.
  @units %{
    max_body_bytes: :bytes,
    default_limit: :count,
    max_limit: :count,
    max_page_bytes: :bytes,
    stream_batch: 100_000,
    stream_min_rate: :bytes,
    stream_grace: :milliseconds,
    timeout: :milliseconds,
    max_requests: :count,
    max_heap_words: :words
  }
  @counts Map.keys(@units)
  @names @endpoint ++ @counts ++ [:server, :identify, :authorize, :auth, :resource_metadata, :metadata_url]

  @doc "The fields of an endpoint."
  @spec new!(keyword()) :: keyword()
  def new!(options) do
    check!(options)
    endpoint = Keyword.take(options, @endpoint)
    own = Keyword.drop(options, @endpoint -- [:max_body_bytes])
    {metadata, own} = Keyword.pop(own, :resource_metadata)
    own = Keyword.put_new_lazy(own, :metadata_url, fn -> metadata_url(metadata) end)

    case endpoint |> Map.new() |> Map.put_new(:prefix, "") |> Endpoint.new() do
      {:ok, endpoint} -> own |> Keyword.put(:endpoint, endpoint) |> Keyword.put_new_lazy(:auth, &auth/0)
      {:error, text} -> raise ArgumentError, text
    end
  end

  defp check!(options) do
    Keyword.keyword?(options) || raise ArgumentError, "expected a keyword list, got: #{inspect(options)}"

    case Keyword.keys(options) -- Enum.uniq(@names) do
      [] -> :ok
      unknown -> raise ArgumentError, "unknown options #{inspect(unknown)}; there are #{inspect(names())}"
    end

    (is_atom(options[:server]) and options[:server] != nil) ||
      raise ArgumentError, "server: is the name of a running McpServer.DualResponse"

    Enum.each(options, &check_option!/1)
  end

  @doc "The names of all options."
  @spec names() :: [atom()]
  def names, do: @names |> Enum.uniq() |> Enum.sort()

  defp check_option!({name, value}) when name in @counts, do: Limit.check!(name, value, @units[name])

  defp check_option!({:identify, hook}), do: check_hook!(:identify, hook, 1)
  defp check_option!({:authorize, hook}), do: check_hook!(:authorize, hook, 3)

  defp check_option!({:auth, value}) do
    value in [:required, :optional] ||
      raise ArgumentError, "expected :auth to be :required or :optional, got: #{inspect(value)}"
  end

  defp check_option!({:resource_metadata, value}) do
    is_map(value) || raise ArgumentError, "expected :resource_metadata to be a map, got: #{inspect(value)}"
  end

  defp check_option!(_other), do: :ok

  defp check_hook!(name, hook, arity) do
    is_function(hook, arity) or match?({module, function} when is_atom(module) and is_atom(function), hook) ||
      raise ArgumentError,
            "expected #{inspect(name)} to be a function of arity #{arity} or {module, function}, got: #{inspect(hook)}"
  end

  defp metadata_url(nil), do: nil

  defp metadata_url(metadata) do
    case HTTP.policy(%{resource_metadata: JSON.encode!(metadata)}) do
      {:ok, policy} -> HTTP.metadata_url(policy)
      {:error, text} -> raise ArgumentError, text
    end
  end

  # A release runs without Mix, and is what authorization is for.
  defp auth do
    mix? = List.keymember?(Application.started_applications(), :mix, 0)
    if mix? and Mix.env() != :prod, do: :optional, else: :required
  end

  @doc "Says in the log where whoever knows an id is let in."
  @spec warn_open(McpServer.DualResponse.Rest.t()) :: :ok
  def warn_open(%{auth: :required, identify: nil, authorize: nil, server: server}) do
    case McpServer.DualResponse.Options.fetch(server) do
      %{signed_urls: settings} when settings != nil ->
        :ok

      _unsigned ->
        Logger.warning(
          "The results of #{inspect(server)} are served without authorize:, identify: or signed URLs: " <>
            "whoever learns an id may fetch, pin and delete. auth: :optional says that this is meant."
        )
    end
  end

  def warn_open(_rest), do: :ok
end
