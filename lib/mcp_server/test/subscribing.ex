defmodule McpServer.Test.Subscribing do
  @moduledoc false
  # Subscriptions of the client of `McpServer.Test`, in both eras.

  alias McpServer.Client

  @acknowledged "notifications/subscriptions/acknowledged"
  @subscription "io.modelcontextprotocol/subscriptionId"

  @lists %{tools: "toolsListChanged", prompts: "promptsListChanged", resources: "resourcesListChanged"}

  @doc "Subscribes to the URIs and lists. Returns when the server has done so."
  @spec subscribe(Client.t(), [String.t() | atom()]) :: :ok | {:error, map()}
  def subscribe(client, changes) do
    for change <- changes, not is_binary(change) and not is_map_key(@lists, change) do
      raise ArgumentError, "expected a URI, :tools, :prompts or :resources, got: #{inspect(change)}"
    end

    if Client.stateless?(client), do: listen(client, changes), else: one_by_one(client, changes)
  end

  defp one_by_one(client, changes) do
    changes
    |> Enum.filter(&is_binary/1)
    |> Enum.find_value(:ok, fn uri ->
      with {:ok, _result} <- Client.call(client, "resources/subscribe", %{"uri" => uri}), do: nil
    end)
  end

  # The answer comes when the stream ends, and before it only if the server refuses.
  defp listen(client, changes) do
    id = "subscription-#{System.unique_integer([:positive])}"
    params = %{"notifications" => filter(changes)}
    Client.push(client, Client.complete(client, %{"id" => id, "method" => "subscriptions/listen", "params" => params}))
    reference = client.reference

    receive do
      {:mcp_notification, @acknowledged, %{"_meta" => %{@subscription => ^id}} = acknowledged} ->
        left_out(changes, acknowledged["notifications"])

      {:mcp_client, ^reference, %{"id" => ^id, "error" => error}} ->
        {:error, error}

      {:mcp_client, ^reference, {:failed, ^id, error}} ->
        raise error
    after
      client.receive_timeout -> Client.late!(client)
    end
  end

  defp filter(changes) do
    lists = for list <- changes, is_atom(list), into: %{}, do: {@lists[list], true}
    Map.put(lists, "resourceSubscriptions", Enum.filter(changes, &is_binary/1))
  end

  defp left_out(changes, acknowledged) do
    case Enum.reject(changes, &told?(&1, acknowledged)) do
      [] -> :ok
      left -> {:error, %{"message" => "the stream leaves out #{Enum.map_join(left, ", ", &inspect/1)}"}}
    end
  end

  defp told?(uri, acknowledged) when is_binary(uri), do: uri in Map.get(acknowledged, "resourceSubscriptions", [])
  defp told?(list, acknowledged), do: acknowledged[@lists[list]] == true
end
