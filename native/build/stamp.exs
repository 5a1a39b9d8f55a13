for part <- ~w(target checksums precompiled fingerprint cargo), do: Code.require_file("#{part}.exs", __DIR__)

defmodule McpServer.NativeBuild.Stamp do
  @moduledoc """
  Whether the installed library is the wanted one. Mix asks at each start of a project with a `path:`
  dependency, so this reads only the parts that it takes to answer.
  """

  alias McpServer.NativeBuild.{Cargo, Precompiled}

  @doc "Whether a library with this stamp, which is what reading the manifest gave, is the one these options lead to."
  @spec current?(map, {:ok, String.t()} | {:error, term}) :: boolean
  def current?(_options, {:error, _reason}), do: false
  def current?(options, {:ok, stamp}), do: stamp == Precompiled.stamp(options) or stamp == Cargo.stamp(options)
end
