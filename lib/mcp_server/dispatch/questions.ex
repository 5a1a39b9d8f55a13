defmodule McpServer.Dispatch.Questions do
  @moduledoc false
  # Checks and encodes a handler's questions to the client, for calls and tasks.

  alias McpServer.{Conn, InputRequest, JSON, Protocol, Request}
  alias McpServer.Dispatch.Handler

  @type inputs :: %{String.t() => InputRequest.t()}

  # Bounds the rounds with a client that keeps declining.
  @max_rounds 25

  @doc "Whether a handler may ask in this round. Otherwise returns the text of the refusal."
  @spec allowed(pos_integer()) :: :ok | {:error, String.t()}
  def allowed(round) when round > @max_rounds, do: {:error, "The client was asked for input too often"}
  def allowed(_round), do: :ok

  @doc "The text of the refusal when the client's answer does not fit its question."
  @spec misfit(String.t()) :: String.t()
  def misfit(text), do: "The client's input was refused: " <> text

  @doc "The requests without parameters that this client should not get."
  @spec fitted(Conn.t(), inputs()) :: inputs()
  def fitted(conn, inputs),
    do: Map.new(inputs, fn {key, input} -> {key, Protocol.fitted(conn.protocol_version, capabilities(conn), input)} end)

  @doc "Whether the client supports all questions. Otherwise returns the text that names the missing capability."
  @spec supported(Conn.t(), inputs()) :: :ok | {:error, String.t()}
  def supported(conn, inputs) do
    case Protocol.missing_capabilities(conn.protocol_version, capabilities(conn), Map.values(inputs)) do
      [] -> :ok
      [capability | _more] -> {:error, Handler.lacks(capability)}
    end
  end

  defp capabilities(conn), do: conn.client_capabilities || %{}

  @doc """
  The requests, each with an id and its key. They are in key order, so that their order is always the same. An error is
  the handler's mistake, or the text for a client whose revision does not have a request.
  """
  @spec encode(String.t(), inputs()) ::
          {:ok, [{Request.id(), String.t(), Protocol.message()}]} | {:error, JSON.EncodeError.t() | String.t()}
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
