defmodule McpServer.Native.Library do
  # The path of the native library, and the errors if it does not load.
  @moduledoc false

  @version Mix.Project.config()[:version]

  @doc "The path of the library without the extension, as the VM expects it."
  @spec path() :: charlist
  def path, do: :mcp_server |> :code.priv_dir() |> to_string() |> Path.join("native/mcp_nif") |> to_charlist()

  @doc """
  The compiler's notes beside the library: its `"target"`, its `"sha256"`, and its source `"from"`.
  """
  @spec origin() :: {:ok, %{String.t() => String.t()}} | {:error, File.posix()}
  def origin do
    with {:ok, text} <- path() |> Path.dirname() |> Path.join("origin.txt") |> File.read() do
      lines = for line <- String.split(text, "\n", trim: true), do: String.split(line, ": ", parts: 2)
      {:ok, Map.new(lines, fn [name, value] -> {name, value} end)}
    end
  end

  @doc "The required version of the library."
  @spec version() :: String.t()
  def version, do: @version

  @head_bytes 64

  @doc """
  Whether the file is complete. An ELF file ends with its section table, and its head has the table's position. Loading
  the library reports a missing file and other formats.
  """
  @spec whole?() :: boolean
  def whole? do
    case head_and_size(~c"#{path()}.so") do
      {<<0x7F, "ELF", 2, 1, _::34-bytes, table::little-64, _::10-bytes, entry::little-16, entries::little-16,
         _::2-bytes>>, size} ->
        table + entry * entries <= size

      _missing_or_other ->
        true
    end
  end

  # Without the file server, which may not run yet when a release loads its code.
  defp head_and_size(file) do
    with {:ok, device} <- :file.open(file, [:read, :raw, :binary]) do
      read = {:file.read(device, @head_bytes), :file.position(device, :eof)}
      :ok = :file.close(device)
      with {{:ok, head}, {:ok, size}} <- read, do: {head, size}
    end
  end

  @doc "The log text for an incomplete file."
  @spec cut_short() :: charlist
  def cut_short, do: ~c"the native library of mcp_server is cut short"

  @doc "The log text when a new version of the code is loaded in a running VM, which keeps the old library."
  @spec restart_needed() :: charlist
  def restart_needed do
    ~c"the native library of mcp_server is not replaced while the VM runs: the old one goes on; restart for the new one"
  end

  @doc "Loads the library, so that a missing or wrong one stops the application at its start."
  @spec ensure_loaded() :: :ok | {:error, String.t()}
  def ensure_loaded do
    case Code.ensure_loaded(McpServer.Native) do
      {:module, McpServer.Native} -> :ok
      {:error, _reason} -> {:error, problem("#{path()}.so")}
    end
  end

  @doc "Records that the library was loaded. It cannot use resources of an earlier load."
  @spec note_loaded() :: :ok
  def note_loaded, do: :persistent_term.put(__MODULE__, make_ref())

  @doc "The reference of the last load. `nil` before the first one."
  @spec loaded() :: reference | nil
  def loaded, do: :persistent_term.get(__MODULE__, nil)

  defp problem(file) do
    cond do
      not File.regular?(file) ->
        "the native library of mcp_server is missing: there is no #{file}; " <>
          "compile it with `mix deps.compile mcp_server --force`"

      not whole?() ->
        "#{cut_short()}: the end of #{file} is missing; compile it with `mix deps.compile mcp_server --force`"

      true ->
        "the native library of mcp_server does not load: #{file} was built for another machine, " <>
          "or for another version of mcp_server; compile it here with `mix deps.compile mcp_server --force`"
    end
  end
end
