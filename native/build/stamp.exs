for part <- ~w(target checksums precompiled fingerprint cargo), do: Code.require_file("#{part}.exs", __DIR__)

defmodule McpServer.NativeBuild.Stamp do
  @moduledoc """
  Whether the installed library is up to date. Mix asks at each start of a project with a `path:`
  dependency, so this module loads only the parts that it needs.
  """

  alias McpServer.NativeBuild.{Cargo, Precompiled}

  @doc "Whether a library with this stamp, the result of reading its manifest, is the library for these options."
  @spec current?(map, {:ok, String.t()} | {:error, term}) :: boolean
  def current?(_options, {:error, _reason}), do: false
  def current?(options, {:ok, stamp}), do: stamp == Precompiled.stamp(options) or stamp == Cargo.stamp(options)
end
