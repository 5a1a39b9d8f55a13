defmodule McpServer.Doctor.Machine do
  @moduledoc false
  # The versions of the library's dependencies, and the native library.

  alias McpServer.Doctor.Finding
  alias McpServer.JSON
  alias McpServer.Native.Library

  @elixir ">= 1.14.0"
  @otp 25

  @typedoc "The facts about a machine. Tests can set them."
  @type t :: %{
          elixir: String.t(),
          otp: String.t(),
          rust: String.t() | nil,
          origin: {:ok, %{String.t() => String.t()}} | {:error, term()},
          loads?: boolean()
        }

  @doc "The facts about this machine."
  @spec here() :: t()
  def here do
    %{
      elixir: System.version(),
      otp: System.otp_release(),
      rust: rust(System.find_executable("rustc")),
      origin: Library.origin(),
      loads?: loads?()
    }
  end

  defp rust(nil), do: nil

  defp rust(path) do
    case System.cmd(path, ["--version"], stderr_to_stdout: true) do
      {version, 0} -> String.trim(version)
      {_said, _status} -> nil
    end
  end

  defp loads? do
    JSON.encode!(1) == "1"
  rescue
    # The errors of a call without the native library.
    _error in [ErlangError, UndefinedFunctionError] -> false
  end

  @doc "The findings about a machine."
  @spec findings(t()) :: [Finding.t()]
  def findings(machine), do: [elixir(machine), otp(machine), library(machine), built(machine)]

  defp elixir(%{elixir: version}) do
    if Version.match?(version, @elixir, allow_pre: true),
      do: Finding.ok("Elixir #{version}"),
      else: Finding.error("Elixir #{version} is older than 1.14", "Install Elixir 1.14 or later.")
  end

  defp otp(%{otp: release}) do
    case Integer.parse(release) do
      {number, _rest} when number >= @otp -> Finding.ok("Erlang/OTP #{release}")
      _older -> Finding.error("Erlang/OTP #{release} is older than #{@otp}", "Install Erlang/OTP #{@otp} or later.")
    end
  end

  defp library(%{loads?: true, origin: {:ok, origin}}),
    do: Finding.ok("the native library is loaded; it came from #{origin["from"]}")

  defp library(%{loads?: true}), do: Finding.ok("the native library is loaded")

  defp library(_machine),
    do: Finding.error("the native library is not loaded", "Run: mix deps.compile mcp_server --force")

  defp built(%{rust: nil, origin: {:ok, %{"from" => "cargo" <> _built}}}) do
    Finding.warning(
      "the native library was built here, and rustc is not on PATH now",
      "Put Rust's programs on PATH, or the next `mix` will want to build it again and cannot."
    )
  end

  defp built(%{rust: nil}), do: Finding.ok("no Rust, and none is needed")
  defp built(%{rust: version}), do: Finding.ok(version)
end
