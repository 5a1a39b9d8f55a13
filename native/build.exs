for part <- ~w(stamp cache archive tls proxy http download) do
  Code.require_file("build/#{part}.exs", __DIR__)
end

defmodule McpServer.NativeBuild do
  @moduledoc """
  Finds the native library. Each function takes a map of options: `:root` (the package's folder), `:version`,
  `:source_url`, `:env` (the environment variables), `:profile` (cargo's profile, see `Cargo.profile/2`) and `:folder`
  (cargo's target folder for the profile `release`).

  cargo builds the library if `MCP_SERVER_BUILD` is set, for a pre-release, and for a package without checksums.
  Otherwise a precompiled library comes from the cache or the release. If that fails, cargo builds it and prints why.
  """

  alias McpServer.NativeBuild.{Cargo, Precompiled, Target}

  @type found :: %{bytes: binary, target: String.t(), origin: String.t(), stamp: String.t()}

  @doc "Returns the library; raises `Mix.Error` if none exists and cargo cannot build it."
  @spec library!(map) :: found
  def library!(options) do
    case Precompiled.library(options) do
      {:ok, found} -> found
      :build -> Cargo.library!(options)
      {:error, reason} -> instead!(options, reason)
    end
  end

  @doc "The text of the manifest next to an installed library."
  @spec describe(found) :: String.t()
  def describe(found) do
    sum = Base.encode16(:crypto.hash(:sha256, found.bytes), case: :lower)
    "target: #{found.target}\nfrom: #{found.origin}\nsha256: #{sum}\n"
  end

  defp instead!(options, reason) do
    unless Cargo.available?(options), do: Mix.raise(nothing(options, reason))
    Mix.shell().info("mcp_server: #{reason}; cargo builds the native library instead")
    Cargo.library!(options)
  end

  defp nothing(options, reason) do
    """
    mcp_server has no native library: #{reason}.
      target   #{Target.triple(options.env)}
      file     #{Precompiled.address(options)}
      by hand  put that file into #{Precompiled.place(options)} and run mix again
      or       install Rust 1.88 or later (https://rustup.rs) and run mix again: cargo builds the library\
    """
  end
end
