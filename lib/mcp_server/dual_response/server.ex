defmodule McpServer.DualResponse.Server do
  @moduledoc false
  # The process of a server. It opens the store, deletes expired resources, and closes the store. Callers create and
  # fetch in their own processes, so they never wait for it. The session data of `SessionStore` are resources of the same
  # store under names of their own, and this process does the same for them.

  use GenServer
  use McpServer.Outline

  alias McpServer.DualResponse.{Error, Events, Options, SessionStore, Storage}

  # The number of resources deleted at once. Between batches the process handles its messages.
  @batch 500

  @spec start_link(Options.t()) :: GenServer.on_start()
  def start_link(%Options{name: name} = options), do: GenServer.start_link(__MODULE__, options, name: name)

  @impl true
  def init(options) do
    Process.flag(:trap_exit, true)

    case open([{options.name, options} | SessionStore.rooms(options)], []) do
      {:ok, opened} ->
        for {key, options} <- opened, do: Options.put(key, options)
        :ok = Options.warn_local(options)
        {:ok, schedule(%{opened: opened, timer: nil}, options.cleanup_interval)}

      {:error, reason} ->
        {:stop, Error.new(:storage_error, "The store cannot be opened", cause: reason)}
    end
  end

  defp open([], opened), do: {:ok, Enum.reverse(opened)}

  defp open([{key, %{store: store, store_options: store_options, name: name} = options} | others], opened) do
    with {:ok, ref} <- store.init(Keyword.put(store_options, :server, name)),
         do: open(others, [{key, %{options | ref: ref}} | opened])
  catch
    kind, reason -> {:error, {kind, reason}}
  end

  # There is only one timer, however often a sweep is requested.
  defp schedule(%{timer: timer} = state, time) do
    if timer, do: Process.cancel_timer(timer)
    %{state | timer: Process.send_after(self(), :sweep, time)}
  end

  @impl true
  def handle_info(:sweep, %{opened: [{_name, options} | _rooms] = opened} = state) do
    more? = opened |> Enum.map(fn {_key, options} -> sweep(options) end) |> Enum.any?(&(&1 == @batch))
    {:noreply, schedule(state, if(more?, do: 0, else: options.cleanup_interval))}
  end

  def handle_info(_message, state), do: {:noreply, state}

  defp sweep(options) do
    case Storage.delete_expired(options, @batch) do
      {:ok, 0} ->
        0

      {:ok, count} ->
        Events.emit(options, :expired, %{count: count}, %{})
        count

      # `Storage` has logged the error. The next sweep tries again.
      {:error, _error} ->
        0
    end
  end

  # Only a shutdown closes the store. After a crash the next process takes it over.
  @impl true
  def terminate(reason, %{opened: opened}) do
    if shutdown?(reason) do
      for {key, options} <- opened do
        Options.erase(key)
        options.store.close(options.ref)
      end
    end
  end

  defp shutdown?(:normal), do: true
  defp shutdown?(:shutdown), do: true
  defp shutdown?({:shutdown, _reason}), do: true
  defp shutdown?(_crash), do: false
end
