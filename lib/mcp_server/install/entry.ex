defmodule McpServer.Install.Entry do
  @moduledoc false
  # The entry of a server in a client's file, and its text in the file's format. A JSON string is also a valid TOML and
  # YAML string.

  alias McpServer.Install.Table
  alias McpServer.JSON

  @typedoc "The server to install: a command, or a URL with headers."
  @type server :: %{
          :name => String.t(),
          optional(:command) => String.t(),
          optional(:args) => [String.t()],
          optional(:url) => String.t(),
          optional(:headers) => [{String.t(), String.t()}]
        }

  @type t :: [{String.t(), term()}]

  @doc "The entry with its keys in order. An error if the client does not support such a server in its file."
  @spec new(Table.client(), server()) :: {:ok, t()} | {:error, String.t()}
  def new(%{http: nil} = client, %{url: _url}), do: {:error, "#{client.name} takes no URL from its file"}

  def new(client, %{url: _url} = server) do
    headers? = Enum.any?(client.http, &match?({_key, :headers}, &1))

    if Map.get(server, :headers, []) != [] and not headers?,
      do: {:error, "#{client.name} is not known to take headers from its file"},
      else: {:ok, fill(client.http, server)}
  end

  def new(client, server), do: {:ok, fill(client.stdio, server)}

  defp fill(template, server), do: for({key, value} <- template, filled = value(value, server), do: {key, filled.value})

  defp value(:command_line, server), do: %{value: [server.command | server.args]}
  defp value(:headers, server), do: if(Map.get(server, :headers, []) != [], do: %{value: Map.new(server.headers)})
  defp value(field, server) when field in [:command, :args, :url, :name], do: %{value: Map.fetch!(server, field)}
  defp value(literal, _server), do: %{value: literal}

  @doc "The entry as a JSON object, at a depth of indentation."
  @spec json(t(), String.t(), String.t()) :: String.t()
  def json(entry, unit, indentation) do
    keys = for {key, _value} <- entry, do: key
    text = entry |> Map.new() |> JSON.encode!(pretty: true, order: keys)
    text |> String.split("\n") |> Enum.map_join("\n" <> indentation, &indent(&1, unit))
  end

  # The encoder indents each level by two spaces.
  defp indent(line, unit) do
    rest = String.trim_leading(line, " ")
    String.duplicate(unit, div(byte_size(line) - byte_size(rest), 2)) <> rest
  end

  @doc "The text that a user pastes into the file."
  @spec block(Table.client(), String.t(), t()) :: String.t()
  def block(%{format: :json} = client, name, entry) do
    "{\n  #{JSON.encode!(client.key)}: {\n    #{JSON.encode!(name)}: #{json(entry, "  ", "    ")}\n  }\n}\n"
  end

  def block(%{format: :toml} = client, name, entry) do
    lines = for {key, value} <- entry, do: "#{key} = #{toml(value)}\n"
    "[#{client.key}.#{JSON.encode!(name)}]\n#{lines}"
  end

  def block(%{format: :yaml} = client, name, entry) do
    lines = for {key, value} <- entry, do: "    #{key}: #{JSON.encode!(value)}\n"
    "#{client.key}:\n  #{JSON.encode!(name)}:\n#{lines}"
  end

  defp toml(%{} = map) do
    members = for {key, value} <- Enum.sort(map), do: "#{JSON.encode!(key)} = #{JSON.encode!(value)}"
    "{ #{Enum.join(members, ", ")} }"
  end

  defp toml(value), do: JSON.encode!(value)
end
