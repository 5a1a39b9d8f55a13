defmodule McpServer.DualResponse.Client.Failure do
  @moduledoc false
  # Describes in a sentence why there was no response.

  alias McpServer.DualResponse.Error

  @sentences %{
    body_too_large: "The server sends more than max_body_bytes",
    head_too_large: "The server sends more than 64 KiB of headers",
    malformed: "What the server sent is not HTTP",
    malformed_header: "A header of the request has characters that HTTP does not allow",
    closed: "The server closed the connection",
    closed_early: "The server closed the connection before its response was complete",
    econnrefused: "Nobody listens there",
    nxdomain: "The host is not known",
    no_authorities: "There are no certificates of authorities: install the system's, or give tls: [cacertfile: path]"
  }

  @doc "The error for the reason of a fetch function. The exceptions of Req, Finch and Mint contain a reason."
  @spec error(term()) :: Error.t()
  def error(%Error{} = error), do: error
  def error(%{reason: reason}), do: error(reason)
  def error(reason) when reason in [:timeout, :etimedout], do: Error.new(:timeout, "The server did not answer in time")

  def error({:address, scope}),
    do: Error.new(:fetch_error, "The host resolves to an address that is not #{scope}", cause: {:address, scope})

  def error({:tls_alert, {alert, _text}} = reason) when is_atom(alert),
    do: Error.new(:fetch_error, "TLS failed: #{alert}", cause: reason)

  def error(reason) when is_map_key(@sentences, reason),
    do: Error.new(:fetch_error, Map.fetch!(@sentences, reason), cause: reason)

  def error(reason), do: Error.new(:fetch_error, "The request failed", cause: reason)
end
