defmodule McpServer.DualResponse.Access do
  @moduledoc false
  # Finding a resource on somebody's behalf. What belongs to another reads as what does not exist, and neither
  # runs any code of a user, so that an id is not confirmed by how long the answer takes.

  alias McpServer.DualResponse.{Error, Events, Options, Resource, Storage}

  @not_found "Resource not found or expired"

  @type identity :: McpServer.DualResponse.identity() | :any

  @doc "The resource, if it is there, is this identity's and has not expired."
  @spec lookup(Options.t(), String.t(), identity) :: {:ok, Resource.t()} | {:error, Error.t()}
  def lookup(options, id, identity) when is_binary(id) do
    case Storage.get(options, {tenant(identity), id}) do
      {:ok, resource} -> judge(options, resource, identity)
      :not_found -> not_found()
      {:error, error} -> {:error, error}
    end
  end

  def lookup(_options, _id, _identity), do: not_found()

  defp judge(options, resource, identity) do
    cond do
      not permitted?(resource, identity) ->
        Events.emit(options, :denied, %{count: 1}, %{})
        not_found()

      Resource.expired?(resource, Options.now(options)) ->
        {:error, Error.new(:resource_expired, @not_found)}

      resource.status == :deleted ->
        {:error, Error.new(:resource_gone, "Resource was deleted")}

      true ->
        {:ok, resource}
    end
  end

  @doc "The error for what is not there."
  @spec not_found() :: {:error, Error.t()}
  def not_found, do: {:error, Error.new(:resource_not_found, @not_found)}

  # A resource that is bound to nobody is for whoever has its id.
  defp permitted?(_resource, :any), do: true

  defp permitted?(resource, identity),
    do: same?(resource.tenant, identity[:tenant]) and same?(resource.subject, identity[:subject])

  defp same?(nil, _claimed), do: true
  defp same?(bound, claimed), do: bound === claimed

  defp tenant(:any), do: nil
  defp tenant(identity), do: identity[:tenant]

  @doc "What a query is told of who asks."
  @spec context(Resource.t(), identity) :: McpServer.DualResponse.identity()
  def context(resource, :any), do: %{tenant: resource.tenant, subject: resource.subject}
  def context(_resource, identity), do: %{tenant: identity[:tenant], subject: identity[:subject]}

  @doc "Keeps a resource until it is deleted."
  @spec pin(Options.t(), String.t(), identity) :: :ok | {:error, Error.t()}
  def pin(options, id, identity) do
    with {:ok, resource} <- lookup(options, id, identity),
         :ok <- found(Storage.update(options, Resource.key(resource), %{expires_at: nil, deadline: nil})) do
      Events.emit(options, :pinned, %{count: 1}, %{})
    end
  end

  @doc "Deletes a resource; of several at a time one is answered `:ok`."
  @spec delete(Options.t(), String.t(), identity) :: :ok | {:error, Error.t()}
  def delete(options, id, identity) do
    with {:ok, resource} <- lookup(options, id, identity),
         :ok <- found(Storage.delete(options, Resource.key(resource))) do
      bury(options, resource)
      Events.emit(options, :deleted, %{count: 1}, %{reason: :requested})
    end
  end

  # What is left is enough to say that the resource was deleted, to those whose it was.
  defp bury(%{tombstones: false}, _resource), do: :ok

  defp bury(%{tombstones: time} = options, resource) do
    stone = %{
      resource
      | status: :deleted,
        query: nil,
        persist: :query,
        columns: [],
        sample_data: [],
        metadata: %{},
        bytes: 0,
        expires_at: expires_at(DateTime.utc_now(), time),
        deadline: deadline(options, time)
    }

    # The resource is deleted, whether that can be remembered or not.
    _kept = Storage.save(options, stone, nil)
    :ok
  end

  @doc "`:not_found` as an error."
  @spec found(:ok | :not_found | {:error, Error.t()}) :: :ok | {:error, Error.t()}
  def found(:not_found), do: not_found()
  def found(other), do: other

  @doc "When something ends that begins at `now` and lasts so long, for people."
  @spec expires_at(DateTime.t(), pos_integer | :infinity) :: DateTime.t() | nil
  def expires_at(_now, :infinity), do: nil
  def expires_at(now, time), do: now |> DateTime.add(time, :millisecond) |> DateTime.truncate(:second)

  @doc "The same on the store's clock."
  @spec deadline(Options.t(), pos_integer | :infinity) :: integer | nil
  def deadline(_options, :infinity), do: nil
  def deadline(options, time), do: Options.now(options) + time
end
