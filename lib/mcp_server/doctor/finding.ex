defmodule McpServer.Doctor.Finding do
  @moduledoc false
  # A finding of the doctor, with advice for a problem.

  @enforce_keys [:level, :said]
  defstruct [:level, :said, :advice]

  @type t :: %__MODULE__{level: :ok | :warning | :error, said: String.t(), advice: String.t() | nil}

  @doc "No problem."
  @spec ok(String.t()) :: t()
  def ok(said), do: %__MODULE__{level: :ok, said: said}

  @doc "It works, but may fail in some cases."
  @spec warning(String.t(), String.t()) :: t()
  def warning(said, advice), do: %__MODULE__{level: :warning, said: said, advice: advice}

  @doc "It does not work."
  @spec error(String.t(), String.t()) :: t()
  def error(said, advice), do: %__MODULE__{level: :error, said: said, advice: advice}
end
