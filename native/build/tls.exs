defmodule McpServer.NativeBuild.Tls do
  @moduledoc """
  Verifies release hosts with the system's certificates, or with the file of `HEX_CACERTS_PATH`, which Hex reads too.
  """

  @doc "The TLS options of a connection."
  @spec options(%{String.t() => String.t()}) :: {:ok, keyword} | {:error, String.t()}
  def options(env) do
    with {:ok, certificates} <- certificates(env) do
      matches = :public_key.pkix_verify_hostname_match_fun(:https)

      {:ok,
       certificates ++
         [verify: :verify_peer, depth: 10, log_level: :none, customize_hostname_check: [match_fun: matches]]}
    end
  end

  defp certificates(%{"HEX_CACERTS_PATH" => file}) when file != "" do
    if File.regular?(file),
      do: {:ok, [cacertfile: file]},
      else: {:error, "cannot be checked: HEX_CACERTS_PATH names no file (#{file})"}
  end

  defp certificates(_env) do
    {:ok, [cacerts: :public_key.cacerts_get()]}
  rescue
    _none in [ErlangError, FunctionClauseError] ->
      {:error, "cannot be checked: this system has no certificates (Debian has them in ca-certificates)"}
  end
end
