defmodule McpServer.ReloadedRouter do
  # A router in several versions. Each can be loaded while another one is served.
  @moduledoc false

  @enforce_keys [:module, :versions]
  defstruct [:module, :versions]

  @type t :: %__MODULE__{module: module(), versions: %{atom() => binary()}}

  @doc "Compiles a version from each text, which has the statements of a router. Loads none of them."
  @spec compile(module(), [{atom(), String.t()}]) :: t()
  def compile(module, texts) do
    versions = for {name, text} <- texts, into: %{}, do: {name, object_code(module, text)}
    remove(%__MODULE__{module: module, versions: versions})
  end

  defp object_code(module, text) do
    [{^module, binary}] = Code.compile_string("defmodule #{inspect(module)} do\n#{text}\nend", "router.ex")
    :code.purge(module)
    :code.delete(module)
    binary
  end

  @doc "Loads a version, as the code server does after a compilation."
  @spec load(t(), atom()) :: t()
  def load(%__MODULE__{module: module, versions: versions} = router, name) do
    :code.purge(module)
    {:module, ^module} = :code.load_binary(module, ~c"router.ex", Map.fetch!(versions, name))
    router
  end

  @doc "Removes the module, as Mix does while it compiles it again."
  @spec remove(t()) :: t()
  def remove(%__MODULE__{module: module} = router) do
    :code.purge(module)
    :code.delete(module)
    :code.purge(module)
    router
  end
end
