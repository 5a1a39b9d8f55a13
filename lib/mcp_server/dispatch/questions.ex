defmodule McpServer.Dispatch.Questions do
  @moduledoc false
  # What a handler asks of the client, before it is put to it: by a call, or by a task.

  alias McpServer.{Conn, InputRequest, JSON, Protocol, Request}
  alias McpServer.Dispatch.Handler

  @type inputs :: %{String.t() => InputRequest.t()}

  # A client that keeps declining must not keep a handler asking for ever.
  @max_rounds 25

  @doc "Whether a handler that has asked so often, this time included, may ask; else the text that says no."
  @spec allowed(pos_integer()) :: :ok | {:error, String.t()}
  def allowed(round) when round > @max_rounds, do: {:error, "The client was asked for input too often"}
  def allowed(_round), do: :ok

  @doc "Whether the client can be asked for all of them; else the text that says what it lacks."
  @spec supported(Conn.t(), inputs()) :: :ok | {:error, String.t()}
  def supported(conn, inputs) do
    case Enum.find(Map.values(inputs), &(not Protocol.supports?(conn.client_capabilities, &1))) do
      nil -> :ok
      input -> {:error, Handler.lacks(Protocol.capability_of(input))}
    end
  end

  @doc "The requests, each with an id and its key. In key order, so that the same handler always asks in the same order."
  @spec encode(String.t(), inputs()) ::
          {:ok, [{Request.id(), String.t(), Protocol.message()}]} | {:error, JSON.EncodeError.t()}
  def encode(revision, inputs) do
    inputs = Enum.sort_by(inputs, &elem(&1, 0))

    Enum.reduce_while(inputs, {:ok, []}, fn {key, input}, {:ok, encoded} ->
      id = Integer.to_string(System.unique_integer([:positive]))

      case Protocol.request(revision, id, input) do
        {:ok, message} -> {:cont, {:ok, encoded ++ [{id, key, message}]}}
        {:error, error} -> {:halt, {:error, error}}
      end
    end)
  end
end
