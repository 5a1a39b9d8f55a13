defmodule McpServer.Client.Error do
  @moduledoc false
  # The reason for a missing answer of a server.

  @typedoc "`:refused` is a 401 or 403, with the field `status`."
  @type kind :: :timeout | :closed | :refused | :unreachable | :no_answer | :protocol

  @type t :: %__MODULE__{kind: kind(), message: String.t(), status: pos_integer() | nil}

  defexception [:kind, :message, :status]

  @doc "The error about a message of the server that cannot be read."
  @spec unreadable(McpServer.JSON.DecodeError.t()) :: t()
  def unreadable(error), do: new(:protocol, "what the server sent cannot be read: #{Exception.message(error)}")

  @doc "An error of a kind."
  @spec new(kind(), String.t(), pos_integer() | nil) :: t()
  def new(kind, message, status \\ nil), do: %__MODULE__{kind: kind, message: message, status: status}
end
