defmodule McpServer.Tools.Guarded do
  @moduledoc false
  # The run-time tools that only some clients see, so that one can stand in for an unknown name. Each has a place on a
  # ring for each of its scopes, and the next one behind the place of the unknown name stands in: however many tools a
  # client has, the search takes the same time, which tells nothing. Clients do not know the key of the places, as in
  # the core: whoever knew which tool stands in could tell an unknown name by its time.

  alias McpServer.{Access, Recipient, Secret}
  alias McpServer.Tools.Server

  @ring 2 ** 128

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(__MODULE__, [:named_table, :public, :ordered_set, read_concurrency: true])
    :ok
  end

  @doc "Adds what a key of `McpServer.Tools.Server` has, if it is a tool that some clients do not see."
  @spec add(Server.key(), Server.value() | nil) :: :ok
  def add({router, whose, {:tool, name}}, %{entry: entry}) do
    if match?(%{access: %{rule: [_ | _]}}, Access.resolve_entry(entry)),
      do: :ets.insert(__MODULE__, {{router, whose, place(name)}, name})

    :ok
  end

  def add(_key, _no_tool), do: :ok

  @doc "Removes the tool of a key of `McpServer.Tools.Server`, if it is here."
  @spec remove(Server.key()) :: :ok
  def remove({router, whose, {:tool, name}}) do
    :ets.delete(__MODULE__, {router, whose, place(name)})
    :ok
  end

  def remove(_no_tool), do: :ok

  @doc "The tool that stands in for an unknown name, of those that these recipients have: `nil` if they have none."
  @spec stand_in(module(), [Recipient.t()], String.t()) :: Server.entry() | nil
  def stand_in(router, recipients, unknown) do
    place = place(unknown)
    found = for whose <- recipients, key = behind(router, whose, place), do: key

    with {_router, whose, _place} = key <- Enum.min_by(found, &distance(&1, place), fn -> nil end),
         [{_key, name}] <- :ets.lookup(__MODULE__, key),
         {:ok, entry} <- Server.find({router, whose, {:tool, name}}) do
      entry
    else
      _none -> nil
    end
  end

  defp behind(router, whose, place), do: next(router, whose, place) || next(router, whose, -1)

  defp next(router, whose, place) do
    with {^router, ^whose, _place} = key <- :ets.next(__MODULE__, {router, whose, place}), do: key, else: (_ -> nil)
  end

  defp distance({_router, _whose, found}, place), do: Integer.mod(found - place, @ring)

  defp place(name) do
    <<place::128, _rest::binary>> = :crypto.mac(:hmac, :sha256, Secret.stand_in_key(), ["run time", name])
    place
  end
end
