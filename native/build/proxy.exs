defmodule McpServer.NativeBuild.Proxy do
  @moduledoc "Reads `HTTPS_PROXY` and `NO_PROXY`, also in lower case, for OTP's HTTP client."

  @type t :: %{address: {charlist, pos_integer}, credentials: {charlist, charlist} | nil, direct: [charlist]}

  @doc "The proxy for HTTPS, or `nil`."
  @spec for_https(%{String.t() => String.t()}) :: t | nil
  def for_https(env) do
    case parse(variable(env, "HTTPS_PROXY")) do
      %URI{host: host, port: port} = uri when host not in [nil, ""] and is_integer(port) ->
        %{address: {to_charlist(host), port}, credentials: credentials(uri.userinfo), direct: direct(env)}

      _none ->
        nil
    end
  end

  defp parse(""), do: nil
  defp parse(text), do: URI.parse(if text =~ "://", do: text, else: "http://#{text}")

  defp credentials(nil), do: nil

  defp credentials(userinfo) do
    [user | password] = String.split(userinfo, ":", parts: 2)
    {decoded(user), decoded(Enum.join(password))}
  end

  defp decoded(text), do: text |> URI.decode() |> to_charlist()

  defp direct(env) do
    for host <- env |> variable("NO_PROXY") |> String.split([",", " "], trim: true), do: pattern(host)
  end

  defp pattern("." <> _domain = suffix), do: to_charlist("*" <> suffix)
  defp pattern(host), do: to_charlist(host)

  defp variable(env, name), do: env[name] || env[String.downcase(name)] || ""
end
