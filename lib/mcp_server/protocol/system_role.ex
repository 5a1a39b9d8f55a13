defmodule McpServer.Protocol.SystemRole do
  @moduledoc false
  # Prompt messages may have the role "system" in Elixir (document 004, section 2.3), but not in MCP. The router's
  # option `system_role:` decides how they are sent.

  require Logger

  alias McpServer.Catalog
  alias McpServer.JSON.EncodeError
  alias McpServer.Prompt.GetResult

  @keys [:role, "role"]

  @doc "Replaces every \"system\" message as the router wants. An error if the router allows none."
  @spec replace(Catalog.t(), GetResult.t()) :: {:ok, GetResult.t()} | {:error, EncodeError.t()}
  def replace(%Catalog{server: %{system_role: :passthrough}}, result), do: {:ok, result}

  def replace(%Catalog{} = catalog, %GetResult{messages: messages} = result) when is_list(messages) do
    case Enum.find_index(messages, &role_key/1) do
      nil -> {:ok, result}
      index -> replace(catalog, result, catalog.server.system_role, index)
    end
  end

  def replace(_catalog, result), do: {:ok, result}

  defp replace(_catalog, _result, :error, index) do
    path = ["messages", index, "role"]
    {:error, EncodeError.new({:invalid_field, path, "the role system, which the router refuses"})}
  end

  defp replace(catalog, result, role, _index) do
    warn_once(catalog.router, role)
    {:ok, %{result | messages: Enum.map(result.messages, &put_role(&1, Atom.to_string(role)))}}
  end

  defp role_key(message) when is_map(message),
    do: Enum.find(@keys, &(Map.get(message, &1) in [:system, "system"]))

  defp role_key(_not_a_message), do: nil

  defp put_role(message, role) do
    case role_key(message) do
      nil -> message
      key -> Map.put(message, key, role)
    end
  end

  defp warn_once(router, role) do
    unless :persistent_term.get({__MODULE__, router}, false) do
      :persistent_term.put({__MODULE__, router}, true)

      Logger.warning(
        "a prompt of #{inspect(router)} has a message of the role \"system\", which MCP does not have: " <>
          "it is sent as \"#{role}\" (option `system_role:` of the router)"
      )
    end
  end
end
