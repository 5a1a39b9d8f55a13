defmodule McpServer.TestLog do
  # What is logged, for tests. One handler stays for the whole suite: `:logger` computes the rest of its handlers when a
  # removal is asked for and stores it later, so two removals at once bring back a removed handler, or lose a new one.
  # `ExUnit.CaptureLog` adds and removes handlers too. It is left to the tag `:capture_log`, which only keeps the log of
  # passing tests from the console.
  @moduledoc false

  import ExUnit.Assertions
  import ExUnit.Callbacks, only: [on_exit: 1]

  # Milliseconds. Only a missing line takes this long.
  @patience 30_000
  # Like the lines of the console, whose format is not a function of every supported Elixir.
  @template ["\n", :time, " [", :level, "] ", :msg, "\n"]

  @doc "Installs the handler until the VM ends."
  @spec start() :: :ok
  def start do
    :ets.new(__MODULE__, [:named_table, :public, :ordered_set, read_concurrency: true])
    :ok = :logger.add_handler(__MODULE__, __MODULE__, %{level: :all})
    quiet_console()
    # A handler that raises is removed, and sees nothing more.
    ExUnit.after_suite(fn _results -> {:ok, _config} = :logger.get_handler_config(__MODULE__) end)
  end

  # Since Elixir 1.15, ExUnit removes the handler `:default` while it captures. A process that logs meanwhile may then
  # run a handler that is gone, which is one removal more. Under another name it stays.
  defp quiet_console do
    console = if Version.match?(System.version(), ">= 1.15.0"), do: rename_default(), else: Logger
    :ok = :logger.add_handler_filter(console, __MODULE__, {&unless_captured/2, []})
  end

  defp rename_default do
    {:ok, %{module: module} = config} = :logger.get_handler_config(:default)
    :ok = :logger.remove_handler(:default)
    :ok = :logger.add_handler(:console, module, Map.drop(config, [:id, :module]))
    :console
  end

  defp unless_captured(_event, _extra), do: if(captured?(), do: :stop, else: :ignore)

  defp captured?, do: :ets.match(__MODULE__, {{:sink, :capture, :_}, :_}, 1) != :"$end_of_table" or captured_by_tag?()

  # A table of this name exists since Elixir 1.15, with an entry for each capture.
  defp captured_by_tag?, do: :ets.info(ExUnit.CaptureServer, :size) not in [0, :undefined]

  @doc "The handler's callback. It runs in the process that logs."
  def log(event, _config), do: for([sink] <- :ets.match(__MODULE__, {{:sink, :_, :_}, :"$1"}), do: sink.(event))

  @doc """
  Calls `sink` with each log event of all processes. It must not raise. Returns a function that ends it. With `:capture`
  the console is silent meanwhile.
  """
  @spec subscribe((:logger.log_event() -> any()), :capture | :watch) :: (() -> true)
  def subscribe(sink, kind \\ :watch) do
    key = {:sink, kind, make_ref()}
    :ets.insert(__MODULE__, {key, sink})
    fn -> :ets.delete(__MODULE__, key) end
  end

  @doc "Runs `fun`, and returns the log of all processes meanwhile."
  @spec capture_log((() -> any())) :: String.t()
  def capture_log(fun), do: fun |> with_log() |> elem(1)

  @doc "Like `capture_log/1`, with the result of `fun` before the log."
  @spec with_log((() -> result)) :: {result, String.t()} when result: var
  def with_log(fun), do: collect(fun, &shown?/1, &format(&1, @template))

  @doc """
  Runs `fun`, and returns the log of the calling process, one message per line. A test of "nothing was logged" uses it,
  because other tests log meanwhile.
  """
  @spec own_log((() -> any())) :: String.t()
  def own_log(fun) do
    own = self()
    {_result, log} = collect(fun, &match?(%{meta: %{pid: ^own}}, &1), &format(&1, [:msg, "\n"]))
    log
  end

  # The lines are in a table, because a message could be taken for one that the test waits for.
  defp collect(fun, wanted?, format) do
    reference = make_ref()

    note = fn event ->
      if wanted?.(event),
        do: :ets.insert(__MODULE__, {{:line, reference, :erlang.unique_integer([:monotonic])}, format.(event)})
    end

    finish = subscribe(note, :capture)

    result =
      try do
        fun.()
      after
        finish.()
      end

    {result, take_lines(reference)}
  end

  defp take_lines(reference) do
    lines = :ets.match(__MODULE__, {{:line, reference, :_}, :"$1"})
    :ets.match_delete(__MODULE__, {{:line, reference, :_}, :_})
    IO.chardata_to_string(lines)
  end

  @doc """
  Sends the log of all processes to the calling test until it ends. Another process may write a line after the client
  has its answer, so a test waits for the line. A line arrives before the end of its process does.
  """
  @spec watch_log() :: :ok
  def watch_log do
    test = self()
    on_exit(subscribe(&if(shown?(&1), do: send(test, {__MODULE__, format(&1, @template)}))))
  end

  @doc "The log up to the first line with `text`, which must come. Each line is returned once."
  @spec log_until(String.t()) :: String.t()
  def log_until(text), do: log_until(text, "")

  defp log_until(text, before) do
    receive do
      {__MODULE__, line} ->
        line = IO.chardata_to_string(line)
        if line =~ text, do: before <> line, else: log_until(text, before <> line)
    after
      @patience -> flunk("no line of the log has #{inspect(text)}, but: #{before}")
    end
  end

  @doc "The log that has arrived. Each line is returned once."
  @spec logged() :: String.t()
  def logged do
    receive do
      {__MODULE__, line} -> IO.chardata_to_string(line) <> logged()
    after
      0 -> ""
    end
  end

  # Reports of supervisors are in no log of Elixir by default.
  defp shown?(%{meta: %{domain: [:otp, :sasl | _]}}), do: false
  defp shown?(_event), do: true

  defp format(event, template), do: :logger_formatter.format(event, %{template: template, single_line: false})
end
