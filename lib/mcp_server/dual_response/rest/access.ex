defmodule McpServer.DualResponse.Rest.Access do
  @moduledoc false
  # Decides on access to a resource: by the hooks, or by the signature of the URL. Unknown, expired and foreign ids get
  # the same response.

  require Logger

  alias McpServer.Auth
  alias McpServer.Auth.Refusal
  alias McpServer.Dispatch.Failure
  alias McpServer.{DualResponse, Outline}
  alias McpServer.DualResponse.{Error, Options, Resource, Rest, Signature}
  alias McpServer.DualResponse.Rest.Endpoint
  alias McpServer.Protocol.HTTP

  @typedoc "The argument of hooks: a `Plug.Conn` or a `McpServer.HttpRequest`. `nil` without hooks."
  @type caller :: term()

  @doc "The resource, and the identity of the request."
  @spec admit(Rest.t(), Endpoint.wanted(), caller()) ::
          {:ok, Resource.t(), DualResponse.identity() | :any} | {:refused, Endpoint.answer()}
  def admit(rest, {action, id, _form, capability}, caller) do
    case {Options.fetch(rest.server), capability} do
      {nil, _capability} -> refused(:storage_unavailable, 1)
      {%{signed_urls: nil}, _capability} -> ask(rest, action, id, caller)
      {%{signed_urls: _settings}, nil} -> unsigned(rest, action, id, caller)
      {%{signed_urls: _settings}, :malformed} -> refused(:not_found)
      {%{signed_urls: settings}, signature} -> verify(rest, action, id, settings, signature)
    end
  end

  # If URLs are signed, an id alone gives no access.
  defp unsigned(%{identify: nil, authorize: nil} = rest, _action, _id, _caller), do: unauthorized(rest)
  defp unsigned(rest, action, id, caller), do: ask(rest, action, id, caller)

  defp verify(rest, action, id, settings, signature) do
    with {:ok, resource} <- DualResponse.lookup(rest.server, id, :any),
         true <- Signature.valid?(resource, settings, action, signature, System.system_time(:second)) do
      {:ok, resource, :any}
    else
      false -> refused(:not_found)
      {:error, %Error{} = error} -> {:refused, Rest.refuse(error)}
    end
  end

  defp ask(rest, action, id, caller) do
    case identity(rest, caller) do
      {:ok, identity} -> found(rest, action, DualResponse.lookup(rest.server, id, identity), identity, caller)
      refused -> refused
    end
  end

  defp identity(%{identify: nil}, _caller), do: {:ok, %{}}

  defp identity(rest, caller) do
    case call("identify:", rest.identify, [caller]) do
      {:ok, verdict} -> identified(verdict, rest)
      :failed -> refused(:internal_error)
    end
  end

  # What the `identify:` of an MCP endpoint returns, and the owner of results itself.
  defp identified(owner, _rest) when is_map_key(owner, :tenant) or is_map_key(owner, :subject) or owner == %{},
    do: {:ok, Map.take(owner, [:tenant, :subject])}

  defp identified({:ok, %Auth{principal: principal}}, _rest), do: {:ok, %{subject: principal}}
  defp identified({:ok, principal}, _rest), do: {:ok, principal_or_owner(principal)}
  defp identified({:error, %Refusal{} = refusal}, rest), do: challenged(rest, refusal)
  defp identified({:error, :unauthorized}, rest), do: unauthorized(rest)
  defp identified({:error, {:unauthorized, scopes}}, rest), do: challenged(rest, Refusal.missing(scopes))
  defp identified({:error, {:insufficient_scope, scopes}}, rest), do: challenged(rest, Refusal.scope(scopes))
  defp identified({:error, :invalid_request}, rest), do: challenged(rest, Refusal.malformed([]))

  defp identified({:error, {:unavailable, seconds}}, _rest) when seconds in 1..86_400,
    do: refused(:storage_unavailable, seconds)

  defp identified(other, _rest) do
    invalid(
      "identify:",
      other,
      "{:ok, principal}, an owner %{tenant: tenant, subject: subject}, {:error, :unauthorized}, or another of the " <>
        "reasons that McpServer.HttpPlug lists"
    )
  end

  # A principal can be any term, and so a map. One with nothing but the keys of an owner is an owner.
  defp principal_or_owner(%{} = owner) when map_size(owner) > 0 and not is_struct(owner) do
    if Enum.all?(Map.keys(owner), &(&1 in [:tenant, :subject])), do: owner, else: %{subject: owner}
  end

  defp principal_or_owner(principal), do: %{subject: principal}

  defp invalid(hook, returned, allowed) do
    Logger.error("MCP #{hook} of stored results returned #{Outline.of(returned)}. It returns #{allowed}.")
    refused(:internal_error)
  end

  defp found(rest, action, {:ok, resource}, identity, caller) do
    case authorize(rest, caller, resource, action) do
      {:ok, :ok} -> {:ok, resource, identity}
      {:ok, {:error, :unauthorized}} -> unauthorized(rest)
      {:ok, {:error, :forbidden}} -> refused(:forbidden)
      {:ok, {:error, :not_found}} -> refused(:not_found)
      {:ok, other} -> invalid("authorize:", other, ":ok, or {:error, :unauthorized | :forbidden | :not_found}")
      :failed -> refused(:internal_error)
    end
  end

  defp found(_rest, _action, {:error, %Error{code: :storage_error} = error}, _identity, _caller),
    do: {:refused, Rest.refuse(error)}

  # The hook is called for unknown ids too. Otherwise its 401 would reveal which ids exist.
  defp found(rest, action, {:error, _not_found}, _identity, caller) do
    case authorize(rest, caller, nil, action) do
      {:ok, {:error, :unauthorized}} -> unauthorized(rest)
      _other -> refused(:not_found)
    end
  end

  defp authorize(%{authorize: nil}, _caller, _resource, _action), do: {:ok, :ok}

  defp authorize(rest, caller, nil, action), do: quietly(rest.authorize, [caller, nil, action])

  defp authorize(rest, caller, resource, action), do: call("authorize:", rest.authorize, [caller, resource, action])

  defp call(name, hook, arguments) do
    {:ok, run(hook, arguments)}
  catch
    kind, reason ->
      failure = Failure.new(kind, reason, __STACKTRACE__, head(arguments))
      Failure.log(failure, "#{name} of a request for a stored result")
      :failed
  end

  # The parts of a `%McpServer.HttpRequest{}` or a `Plug.Conn` that must not be logged.
  defp head([%{req_headers: headers, query_string: query} | _others]), do: %{headers: headers, target: query}
  defp head(_no_request), do: %{headers: [], target: ""}

  # Many hooks match on a resource, so their errors without one are not logged.
  defp quietly(hook, arguments) do
    {:ok, run(hook, arguments)}
  catch
    _kind, _reason -> :failed
  end

  defp run({module, function}, arguments), do: apply(module, function, arguments)
  defp run(hook, arguments), do: apply(hook, arguments)

  defp unauthorized(rest), do: challenged(rest, Refusal.missing([]))

  # The same challenge as the MCP endpoint's, so that a client can get the missing token or scope.
  defp challenged(rest, %Refusal{kind: kind} = refusal) do
    challenge = refusal |> Map.take([:error, :description]) |> Map.put(:scope, refusal.scopes)
    challenge = challenge |> Map.put(:resource_metadata, rest.metadata_url) |> Map.merge(Refusal.schemes(refusal.dpop))

    {:refused, {status, headers, body}} = answer(kind, challenge)
    {:refused, {status, headers ++ Refusal.headers(refusal), body}}
  end

  defp answer(kind, challenge) do
    case kind do
      :unauthorized -> refused(:unauthorized, challenge)
      :forbidden -> :forbidden |> refused() |> with_challenge(challenge)
      :invalid_authorization -> :malformed |> refused() |> with_challenge(challenge)
    end
  end

  defp with_challenge({:refused, {status, headers, body}}, challenge),
    do: {:refused, {status, [{"www-authenticate", HTTP.challenge(challenge)} | headers], body}}

  defp refused(kind, details \\ nil), do: {:refused, Endpoint.refuse(kind, details)}
end
