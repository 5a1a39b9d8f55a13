defmodule McpServer.Fetch.TLS do
  @moduledoc false
  # Options of a TLS connection. The server must present a certificate for the requested host, issued by an authority
  # that the system trusts.

  @compile {:no_warn_undefined, CAStore}

  @doc "The options that users may set: trusted authorities and client certificates. Verification cannot be disabled."
  @spec allowed() :: [atom()]
  def allowed, do: [:cacerts, :cacertfile, :cert, :certfile, :certs_keys, :key, :keyfile, :password, :versions]

  @doc "The options of a connection to a host."
  @spec options(host :: String.t(), keyword()) :: {:ok, keyword()} | {:error, term()}
  def options(host, given) do
    with {:ok, authorities} <- authorities(given) do
      checks = [
        verify: :verify_peer,
        versions: [:"tlsv1.3", :"tlsv1.2"],
        # The caller reports failed handshakes, so OTP need not log them.
        log_level: :error,
        customize_hostname_check: [match_fun: :public_key.pkix_verify_hostname_match_fun(:https)]
      ]

      {:ok, checks |> Keyword.merge(name(host)) |> Keyword.merge(authorities) |> Keyword.merge(given)}
    end
  end

  # The connection goes to an address, so TLS needs the name. A host that is an address is checked as an address.
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
    # The system has no certificates, or OTP does not find them.
    _error -> castore()
  end

  defp castore do
    if Code.ensure_loaded?(CAStore), do: {:ok, [cacertfile: CAStore.file_path()]}, else: {:error, :no_authorities}
  end
end
