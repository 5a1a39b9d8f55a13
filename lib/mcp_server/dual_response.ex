defmodule McpServer.DualResponse do
  @moduledoc """
  Results too large for a model: a few rows go into the answer, all of them stay fetchable.
  """

  alias McpServer.DualResponse.{Error, Page, Resource, Response}

  @typedoc "The name of a running server."
  @type server :: atom

  @typedoc "On whose behalf something is asked for."
  @type identity :: %{optional(:tenant) => term, optional(:subject) => term}

  @typedoc "A sort key, or several, the first of which counts most."
  @type sort :: %{field: String.t(), order: :asc | :desc}

  @type query :: %{
          optional(:offset) => non_neg_integer,
          optional(:limit) => pos_integer,
          optional(:sort) => sort | [sort] | nil
        }

  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(_options), do: :ignore

  @spec create_response(server, keyword) :: {:ok, Response.t()} | {:error, Error.t()}
  def create_response(_server, _options), do: {:error, Error.new(:storage_error, "The store is not available")}

  @spec get_resource(server, String.t(), identity) :: Resource.t() | nil
  def get_resource(server, id, identity \\ %{}) do
    case lookup(server, id, identity) do
      {:ok, resource} -> resource
      {:error, _error} -> nil
    end
  end

  # The reason why there is no resource: :resource_not_found, :resource_expired, :resource_gone or :storage_error.
  @spec lookup(server, String.t(), identity) :: {:ok, Resource.t()} | {:error, Error.t()}
  def lookup(_server, _id, _identity \\ %{}),
    do: {:error, Error.new(:resource_not_found, "Resource not found or expired")}

  @spec fetch(server, String.t(), query, identity) :: {:ok, Page.t()} | {:error, Error.t()}
  def fetch(_server, _id, _query, _identity \\ %{}),
    do: {:error, Error.new(:resource_not_found, "Resource not found or expired")}

  @spec stream(server, String.t(), map, identity) ::
          {:ok, total_count :: non_neg_integer, Enumerable.t()} | {:error, Error.t()}
  def stream(_server, _id, _query, _identity \\ %{}),
    do: {:error, Error.new(:resource_not_found, "Resource not found or expired")}

  @spec pin_resource(server, String.t(), identity) :: boolean
  def pin_resource(_server, _id, _identity \\ %{}), do: false

  @spec delete_resource(server, String.t(), identity) :: boolean
  def delete_resource(_server, _id, _identity \\ %{}), do: false

  @spec shutdown(server) :: :ok
  def shutdown(_server), do: :ok
end
