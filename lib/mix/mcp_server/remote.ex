defmodule Mix.McpServer.Remote do
  # Parses a task's URL and headers for a server over HTTP.
  @moduledoc false

  alias McpServer.DualResponse.Client.{Headers, Target}

  @doc "The URL, if it is an http URL. `name` is the option in the error text."
  @spec url!(String.t(), String.t(), String.t()) :: String.t()
  def url!(url, name, usage) do
    case Target.parse(url) do
      {:ok, _uri, _origin} -> url
      _no_url -> Mix.McpServer.refuse!("expected #{name} to be an http or https URL, got: #{url}", usage)
    end
  end

  @doc "The headers of `--header` and `--header-env`. Their values are secrets, so no message contains them."
  @spec headers!(keyword(), String.t()) :: [{String.t(), String.t()}]
  def headers!(options, usage) do
    plain =
      for header <- Keyword.get_values(options, :header), do: pair!(header, ":", "--header to be NAME: VALUE", usage)

    read =
      for given <- Keyword.get_values(options, :header_env),
          {name, variable} = pair!(given, "=", "--header-env to be NAME=VARIABLE", usage),
          do: {name, variable!(variable, usage)}

    try do
      Headers.normalize!(plain ++ read)
    rescue
      error in ArgumentError -> Mix.McpServer.refuse!("--header: #{error.message}", usage)
    end
  end

  defp pair!(given, separator, form, usage) do
    case String.split(given, separator, parts: 2) do
      [name, value] -> {String.trim(name), String.trim(value)}
      _no_pair -> Mix.McpServer.refuse!("expected #{form}", usage)
    end
  end

  defp variable!(name, usage) do
    System.get_env(name) || Mix.McpServer.refuse!("--header-env: there is no environment variable #{name}", usage)
  end
end
