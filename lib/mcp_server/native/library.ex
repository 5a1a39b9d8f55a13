defmodule McpServer.Native.Library do
  # Where the native library is, and what to say when it does not load.
  @moduledoc false

  @version Mix.Project.config()[:version]

  @doc "Its path without the extension, as the VM wants it."
  @spec path() :: charlist
  def path, do: :mcp_server |> :code.priv_dir() |> to_string() |> Path.join("native/mcp_nif") |> to_charlist()

  @doc """
  What the compiler noted beside the library: its `"target"`, its `"sha256"`, and `"from"` where it came.
  """
  @spec origin() :: {:ok, %{String.t() => String.t()}} | {:error, File.posix()}
  def origin do
    with {:ok, text} <- path() |> Path.dirname() |> Path.join("origin.txt") |> File.read() do
      lines = for line <- String.split(text, "\n", trim: true), do: String.split(line, ": ", parts: 2)
      {:ok, Map.new(lines, fn [name, value] -> {name, value} end)}
    end
  end

  @doc "The version that the library has to be of."
  @spec version() :: String.t()
  def version, do: @version

  @head_bytes 64

  @doc """
  Whether all of the file is there. What stands last in an ELF file is the table of its sections, and the head says
  where that is. Of a file that is missing or has another form, loading it says what is wrong.
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

  @doc "What the log says of a file of which the end is missing."
  @spec cut_short() :: charlist
  def cut_short, do: ~c"the native library of mcp_server is cut short"

  @doc "What the log says where a new version of the code is loaded while this VM runs: the old one goes on."
  @spec restart_needed() :: charlist
  def restart_needed do
    ~c"the native library of mcp_server is not replaced while the VM runs: the old one goes on; restart for the new one"
  end

  @doc "Loads it, so that a library that is missing or wrong stops the application and not the first call."
  @spec ensure_loaded() :: :ok | {:error, String.t()}
  def ensure_loaded do
    case Code.ensure_loaded(McpServer.Native) do
      {:module, McpServer.Native} -> :ok
      {:error, _reason} -> {:error, problem("#{path()}.so")}
    end
  end

  @doc "Says that it has been loaded. What was made with the library of an earlier load is strange to this one."
  @spec note_loaded() :: :ok
  def note_loaded, do: :persistent_term.put(__MODULE__, make_ref())

  @doc "Which load it was; `nil` before the first."
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
