defmodule McpServer.DualResponse.Router do
  @moduledoc """
  The statement of a router that names the server of its dual responses. `use McpServer.Router` imports it.
  """

  alias McpServer.DualResponse.{Reading, Spill}
  alias McpServer.Fields
  alias McpServer.Router.{Handler, Refusal, ResourceDefinition, Scope, Uri}

  @options Fields.table([name: :string, title: :string, description: :string, uri: :string], "option")
  @defaults %{
    name: "dual_response",
    description: "A result that was too large for one answer: what it is, and its first rows",
    uri: "resource://{id}"
  }

  @doc """
  Names the `McpServer.DualResponse` that stores results too large for one answer.

      dual_responses MyApp.Results

  Clients can then read the links of dual responses with `resources/read`: a description of the resource, and its first
  100 rows. Tools may have a `result_budget:`. The server's capabilities have the REST endpoint under
  `experimental.dualResponse`.

  | option | default | meaning |
  |---|---|---|
  | `uri:` | `"resource://{id}"` | the template of the server's URIs; `id` is its only variable |
  | `name:`, `title:`, `description:` | `"dual_response"`, … | the description of the template for clients |

  The server's `bind:` decides who may read a resource. A router that includes this one has the same server.
  """
  defmacro dual_responses(server, options \\ []) do
    quote do
      McpServer.DualResponse.Router.declare!(
        __MODULE__,
        unquote(Handler.as_runtime(server, __CALLER__)),
        unquote(options),
        unquote(Refusal.place(__CALLER__))
      )
    end
  end

  @doc false
  @spec declare!(module, term, term, Refusal.place()) :: :ok
  def declare!(module, server, options, place) do
    check_server!(server, place)
    Scope.check_outermost!(module, "dual_responses", place)
    check_new!(module, place)

    options =
      Map.merge(@defaults, Refusal.checked!(place, fn -> Fields.gather!("dual_responses", @options, options) end))

    check_uri!(options.uri, place)

    # `arguments: :atoms` of the router is for its own handlers.
    ResourceDefinition.open!(module, options.name, options.uri, [arguments: :strings], "", place)
    for {statement, value} <- statements(options), do: ResourceDefinition.put!(module, statement, value, place)
    ResourceDefinition.put_handler!(module, :read, Reading, :read, place)
    ResourceDefinition.close!(module)
    Scope.declare(module, :overflow, %{implementation: {Spill, server}, place: place})
  end

  defp statements(options),
    do: options |> Map.take([:title, :description]) |> Map.put(:mimeType, "application/json") |> Enum.sort()

  defp check_server!(server, _place) when is_atom(server) and server not in [nil, true, false], do: :ok

  defp check_server!(server, place) do
    Refusal.refuse!(place, "dual_responses names a McpServer.DualResponse by its name, got: #{inspect(server)}")
  end

  defp check_new!(module, place) do
    with [%{place: earlier}] <- Scope.declared(module, :overflow),
         do: Refusal.refuse!(place, "dual_responses is already declared, at #{Refusal.format(earlier)}. Remove one")
  end

  defp check_uri!(uri, place) do
    case Uri.variables(uri) do
      {:ok, ["id"]} ->
        :ok

      _other ->
        Refusal.refuse!(
          place,
          "the uri of dual_responses is a template with the one variable {id}, such as \"results://{id}\", got: #{inspect(uri)}"
        )
    end
  end
end
