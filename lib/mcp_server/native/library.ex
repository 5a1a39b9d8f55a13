defmodule McpServer.Native.Library do
  # Where the native library is, and what to say when it does not load.
  @moduledoc false

  @doc "Its path without the extension, as the VM wants it."
  @spec path() :: charlist
  def path, do: :mcp_server |> :code.priv_dir() |> to_string() |> Path.join("native/mcp_nif") |> to_charlist()

  @doc "Loads it, so that a library that is missing or wrong stops the application and not the first call."
  @spec ensure_loaded() :: :ok | {:error, String.t()}
  def ensure_loaded do
    case Code.ensure_loaded(McpServer.Native) do
      {:module, McpServer.Native} -> :ok
      {:error, _reason} -> {:error, problem("#{path()}.so")}
    end
  end

  defp problem(file) do
    if File.regular?(file) do
      "the native library of mcp_server does not load: #{file} was built for another machine, " <>
        "or for another version of mcp_server; compile it here with `mix deps.compile mcp_server --force`"
    else
      "the native library of mcp_server is missing: there is no #{file}; " <>
        "compile it with `mix deps.compile mcp_server --force`"
    end
  end
end
