defmodule McpServer.Fetch.TLS do
  @moduledoc false
  # Options of a TLS connection: the server has to show a certificate for the host that was asked for, issued by an
  # authority that the system trusts.

  @compile {:no_warn_undefined, CAStore}

  @doc "What users may set: whom to trust, and who they are. That certificates are checked is not up for choice."
  @spec allowed() :: [atom()]
  def allowed, do: [:cacerts, :cacertfile, :cert, :certfile, :certs_keys, :key, :keyfile, :password, :versions]

  @doc "The options of a connection to a host."
  @spec options(host :: String.t(), keyword()) :: {:ok, keyword()} | {:error, term()}
  def options(host, given) do
    with {:ok, authorities} <- authorities(given) do
      checks = [
        verify: :verify_peer,
        versions: [:"tlsv1.3", :"tlsv1.2"],
        # A handshake that fails is the caller's to hear of, and says why.
        log_level: :error,
        customize_hostname_check: [match_fun: :public_key.pkix_verify_hostname_match_fun(:https)]
      ]

      {:ok, checks |> Keyword.merge(name(host)) |> Keyword.merge(authorities) |> Keyword.merge(given)}
    end
  end

  # The connection is made to an address, so the name has to be told. An address as a host is checked as such.
  defp name(host) do
    case host |> to_charlist() |> :inet.parse_address() do
      {:ok, _ip} -> []
      {:error, :einval} -> [server_name_indication: to_charlist(host)]
    end
  end

  defp authorities(given) do
    if Keyword.has_key?(given, :cacerts) or Keyword.has_key?(given, :cacertfile), do: {:ok, []}, else: trusted()
  end

  defp trusted do
    {:ok, [cacerts: :public_key.cacerts_get()]}
  rescue
    # The system has no certificates, or OTP does not know where.
    _error -> castore()
  end

  defp castore do
    if Code.ensure_loaded?(CAStore), do: {:ok, [cacertfile: CAStore.file_path()]}, else: {:error, :no_authorities}
  end
end
