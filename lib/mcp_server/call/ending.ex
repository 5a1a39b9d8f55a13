defmodule McpServer.Call.Ending do
  @moduledoc false
  # The end of a call, in the form of telemetry events.

  alias McpServer.{Dispatch, JSON, Protocol}

  @doc "The outcome of an answered call."
  @spec outcome(Dispatch.outcome()) :: :ok | :tool_error | :error | :input_required
  def outcome({:refused, _standing}), do: :error
  def outcome({kind, _what}) when kind in [:subscribe, :unsubscribe, :listen], do: :ok
  def outcome(outcome), do: outcome

  @doc "The code of a call's JSON-RPC error, `nil` for a result."
  @spec error_code(Dispatch.outcome() | :cancelled, Protocol.message() | nil) :: integer() | nil
  def error_code(outcome, reply) when outcome == :error or elem(outcome, 0) in [:refused, :exception], do: code(reply)
  def error_code(_outcome, _reply), do: nil

  defp code(nil), do: nil

  defp code(reply) do
    with {:ok, %{"error" => %{"code" => code}}} <- JSON.decode(reply), do: code, else: (_a_result -> nil)
  end

  @doc "OpenTelemetry's `error.type`, `nil` for a success."
  @spec error_type(Dispatch.outcome() | :cancelled, integer() | nil) :: String.t() | nil
  def error_type(:cancelled, _code), do: "cancelled"
  def error_type({:exception, kind, _id}, _code), do: Atom.to_string(kind)
  def error_type(outcome, code), do: type(outcome(outcome), code)

  defp type(:tool_error, _code), do: "tool_error"
  defp type(:error, nil), do: "tool_error"
  defp type(:error, code), do: Integer.to_string(code)
  defp type(_ok, _code), do: nil
end
