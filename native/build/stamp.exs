for part <- ~w(target checksums precompiled fingerprint cargo), do: Code.require_file("#{part}.exs", __DIR__)

defmodule McpServer.NativeBuild.Stamp do
  @moduledoc """
  Whether the installed library is the one that is wished for. Mix asks at each start of a project with a `path:`
  dependency, so this reads only the parts that it takes to answer.
  """

  alias McpServer.NativeBuild.{Cargo, Precompiled}

  @doc "Whether a library with this stamp, which is what reading the manifest gave, is what the wish is for."
  @spec current?(map, {:ok, String.t()} | {:error, term}) :: boolean
  def current?(_wish, {:error, _reason}), do: false
  def current?(wish, {:ok, stamp}), do: stamp == Precompiled.stamp(wish) or stamp == Cargo.stamp(wish)
end
