defmodule McpServer.Dispatch.Permission do
  @moduledoc false
  # Whether a client may use what its request names: what the `authorize:` function of the declaration says. It is
  # the user's code, so it runs in the process of the call.

  require Logger

  alias McpServer.{Catalog, Conn, Outline, Protocol, Request}
  alias McpServer.Dispatch.Handler

  @type refusal :: :forbidden | {:insufficient_scope, [String.t()]}

  @doc """
  Whether the client may make the request.

  Any other answer of the function is the same as a refusal, and an error in the log. What it raises is the caller's to
  catch.
  """
  @spec authorized(Catalog.t(), Request.t(), Conn.t()) :: :ok | {:forbidden, refusal()}
  def authorized(catalog, request, conn) do
    case Handler.entry(catalog, request) do
      %{authorize: {module, function} = hook} -> verdict(apply(module, function, [about(conn, request)]), hook)
      _unguarded -> :ok
    end
  end

  defp verdict(:ok, _hook), do: :ok
  defp verdict({:error, :forbidden}, _hook), do: {:forbidden, :forbidden}

  defp verdict({:error, {:insufficient_scope, scopes} = refusal} = returned, hook) do
    if is_list(scopes) and not List.improper?(scopes) and Enum.all?(scopes, &is_binary/1),
      do: {:forbidden, refusal},
      else: unknown(returned, hook)
  end

  defp verdict(returned, hook), do: unknown(returned, hook)

  defp unknown(returned, {module, function}) do
    Logger.error(
      "MCP #{Exception.format_mfa(module, function, 1)} returned #{Outline.of(returned)}, which refuses the request. " <>
        ~S'A function of `authorize:` returns :ok, {:error, :forbidden} or {:error, {:insufficient_scope, ["scope"]}}.'
    )

    {:forbidden, :forbidden}
  end

  # One function can decide about every URI of a template.
  defp about(conn, %Request{kind: kind, name: uri, arguments: variables}) when kind in [:resource, :resource_template],
    do: conn |> Conn.put_private(:uri, uri) |> Conn.put_private(:variables, variables)

  defp about(conn, %Request{kind: :complete_resource, arguments: arguments}),
    do: Conn.put_private(conn, :variables, arguments["context"] || %{})

  defp about(conn, _request), do: conn

  @doc "Whether the client may read the URI, and so hear of its changes; one that does not exist nobody may."
  @spec readable?(Catalog.t(), Request.t(), Conn.t(), uri :: String.t()) :: boolean()
  def readable?(catalog, request, conn, uri) do
    case Protocol.find_resource(catalog, uri) do
      :not_found ->
        false

      {kind, index, variables} ->
        authorized(catalog, %{request | kind: kind, index: index, name: uri, arguments: variables}, conn) == :ok
    end
  end
end
