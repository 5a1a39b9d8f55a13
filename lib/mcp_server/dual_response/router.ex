defmodule McpServer.Router.DualResponsesDefinition do
  @moduledoc false
  # What a `dual_responses` declaration says: which server keeps the router's large results. A template of its
  # URIs goes with it, so that clients can read the links they were given.

  alias McpServer.{DualResponse, Fields}
  alias McpServer.Router.{Refusal, ResourceDefinition, Scope, Uri}

  @options Fields.table([name: :string, title: :string, description: :string, uri: :string], "option")
  @defaults %{
    name: "dual_response",
    description: "A result that was too large for one answer: what it is, and its first rows",
    uri: "resource://{id}"
  }

  @doc "Declares the server."
  @spec declare!(module, term, term, Refusal.place()) :: :ok
  def declare!(module, server, options, place) do
    check_server!(server, place)
    Scope.check_outermost!(module, "dual_responses", place)
    check_new!(module, place)

    options =
      Map.merge(@defaults, Refusal.checked!(place, fn -> Fields.gather!("dual_responses", @options, options) end))

    check_uri!(options.uri, place)

    ResourceDefinition.open!(module, options.name, options.uri, [], place)
    for {statement, value} <- statements(options), do: ResourceDefinition.put!(module, statement, value, place)
    ResourceDefinition.put_handler!(module, :read, DualResponse.Reading, :read, place)
    ResourceDefinition.close!(module)
    Scope.declare(module, :dual_responses, %{server: server, place: place})
  end

  defp statements(options),
    do: options |> Map.take([:title, :description]) |> Map.put(:mimeType, "application/json") |> Enum.sort()

  defp check_server!(server, _place) when is_atom(server) and server not in [nil, true, false], do: :ok

  defp check_server!(server, place) do
    Refusal.refuse!(place, "dual_responses names a McpServer.DualResponse by its name, got: #{inspect(server)}")
  end

  defp check_new!(module, place) do
    with [%{place: earlier}] <- Scope.declared(module, :dual_responses),
         do: Refusal.refuse!(place, "dual_responses is already declared, at #{Refusal.format(earlier)}")
  end

  defp check_uri!(uri, place) do
    case Uri.variables(uri) do
      {:ok, ["id"]} ->
        :ok

      _other ->
        Refusal.refuse!(place, "the uri of dual_responses is a template of the variable id, got: #{inspect(uri)}")
    end
  end

  @doc "The declared server, if there is one."
  @spec server(module) :: atom | nil
  def server(module) do
    case Scope.declared(module, :dual_responses) do
      [%{server: server}] -> server
      [] -> nil
    end
  end
end
