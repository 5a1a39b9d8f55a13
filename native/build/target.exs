defmodule McpServer.NativeBuild.Target do
  @moduledoc """
  Names the target machine of the library in Rust's format: `x86_64-unknown-linux-gnu`.

  It reads `TARGET_ARCH`, `TARGET_OS`, `TARGET_ABI` and `TARGET_VENDOR`, which Nerves sets, then cargo's
  `CARGO_BUILD_TARGET`. The default is the machine that compiles.
  """

  @doc "The target's name."
  @spec triple(%{String.t() => String.t()}) :: String.t()
  def triple(env), do: cross(env) || host()

  @doc "The target's name if the environment sets one; `nil` for the machine that compiles."
  @spec cross(%{String.t() => String.t()}) :: String.t() | nil
  def cross(%{"TARGET_ARCH" => arch, "TARGET_OS" => os} = env) when arch != "" and os != "" do
    name([arch, Map.get(env, "TARGET_VENDOR", "unknown"), os, Map.get(env, "TARGET_ABI", "")])
  end

  def cross(%{"CARGO_BUILD_TARGET" => target}) when target != "", do: target
  def cross(_env), do: nil

  @doc "The target's name for a value of `:erlang.system_info(:system_architecture)`."
  @spec host(String.t()) :: String.t()
  def host(architecture \\ architecture()) do
    architecture |> String.split("-") |> name() |> musl(&File.exists?/1)
  end

  @doc """
  Corrects the C library's name: some builds of Erlang for musl report `linux-gnu`. On such systems musl's loader
  exists, and glibc's does not.
  """
  @spec musl(String.t(), (String.t() -> boolean)) :: String.t()
  def musl("x86_64-unknown-linux-gnu" = name, exists?), do: musl(name, "x86_64", "/lib64/ld-linux-x86-64.so.2", exists?)

  def musl("aarch64-unknown-linux-gnu" = name, exists?),
    do: musl(name, "aarch64", "/lib/ld-linux-aarch64.so.1", exists?)

  def musl(name, _exists?), do: name

  defp musl(name, arch, glibc, exists?) do
    if exists?.("/lib/ld-musl-#{arch}.so.1") and not exists?.(glibc), do: "#{arch}-unknown-linux-musl", else: name
  end

  defp architecture, do: to_string(:erlang.system_info(:system_architecture))

  # Apple has no 32-bit ARM Macs, so `arm` means `aarch64`.
  defp name(["arm", "apple", "darwin" <> _version]), do: "aarch64-apple-darwin"
  defp name([arch, _vendor, "darwin" <> _version | _abi]), do: "#{arch(arch)}-apple-darwin"
  defp name([arch, _vendor, "linux", ""]), do: "#{arch(arch)}-unknown-linux-gnu"
  defp name([arch, _vendor, "linux", abi]), do: "#{arch(arch)}-unknown-linux-#{abi}"
  # Some builds of Erlang omit the vendor.
  defp name([arch, "linux", abi]), do: "#{arch(arch)}-unknown-linux-#{abi}"
  defp name(parts), do: parts |> Enum.reject(&(&1 == "")) |> Enum.join("-")

  defp arch("arm64"), do: "aarch64"
  defp arch("amd64"), do: "x86_64"
  defp arch(arch), do: arch
end
