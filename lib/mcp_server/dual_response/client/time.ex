defmodule McpServer.DualResponse.Client.Time do
  @moduledoc false
  # Parses timestamps of other programs.

  @doc "The time of a text or a `DateTime`. `nil` for `nil`."
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
