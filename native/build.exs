for part <- ~w(stamp cache archive tls proxy http download) do
  Code.require_file("build/#{part}.exs", __DIR__)
end

defmodule McpServer.NativeBuild do
  @moduledoc """
  Finds the native library for a wish: a map of `:root` (the package's folder), `:version`, `:source_url`,
  `:env` (the variables of the environment) and `:folder` (cargo's target folder).

  cargo builds it when `MCP_SERVER_BUILD` is set, for a pre-release, and for a package without checksums. Otherwise a
  precompiled library comes from the cache or from the release; when that fails cargo builds it, and one line says why.
  """

  alias McpServer.NativeBuild.{Cargo, Precompiled, Target}

  @type found :: %{bytes: binary, target: String.t(), origin: String.t(), stamp: String.t()}

  @doc "Gives the library; raises `Mix.Error` where there is none and cargo cannot build it."
  @spec library!(map) :: found
  def library!(wish) do
    case Precompiled.library(wish) do
      {:ok, found} -> found
      :build -> Cargo.library!(wish)
      {:error, reason} -> instead!(wish, reason)
    end
  end

  @doc "The text that lies beside an installed library."
  @spec describe(found) :: String.t()
  def describe(found) do
    sum = Base.encode16(:crypto.hash(:sha256, found.bytes), case: :lower)
    "target: #{found.target}\nfrom: #{found.origin}\nsha256: #{sum}\n"
  end

  defp instead!(wish, reason) do
    unless Cargo.available?(wish), do: Mix.raise(nothing(wish, reason))
    Mix.shell().info("mcp_server: #{reason}; cargo builds the native library instead")
    Cargo.library!(wish)
  end

  defp nothing(wish, reason) do
    """
    mcp_server has no native library: #{reason}.
      target   #{Target.triple(wish.env)}
      file     #{Precompiled.address(wish)}
      by hand  put that file into #{Precompiled.place(wish)} and run mix again
      or       install Rust 1.88 or later (https://rustup.rs) and run mix again: cargo builds the library\
    """
  end
end
