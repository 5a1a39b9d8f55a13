defmodule McpServer.DualResponse.Client.Time do
  @moduledoc false
  # Timestamps of another program.

  @doc "The time that a text or a `DateTime` is, `nil` for one that is not there."
  @spec read(term()) :: {:ok, DateTime.t() | nil} | :error
  def read(nil), do: {:ok, nil}
  def read(%DateTime{} = time), do: {:ok, time}

  def read(text) when is_binary(text) do
    case DateTime.from_iso8601(text) do
      {:ok, time, _offset} -> {:ok, time}
      {:error, _reason} -> :error
    end
  end

  def read(_term), do: :error
end
