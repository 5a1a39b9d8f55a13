defmodule McpServer.DualResponse.Server do
  @moduledoc false
  # The process of a server. It opens the store, deletes expired resources, and closes the store. Callers create and
  # fetch in their own processes, so they never wait for it.

  use GenServer
  use McpServer.Outline

  alias McpServer.DualResponse.{Error, Events, Options, Storage}

  # The number of resources deleted at once. Between batches the process handles its messages.
  @batch 500

  @spec start_link(Options.t()) :: GenServer.on_start()
  def start_link(%Options{name: name} = options), do: GenServer.start_link(__MODULE__, options, name: name)

  @impl true
  def init(options) do
    Process.flag(:trap_exit, true)

    case open(options) do
      {:ok, ref} ->
        options = %{options | ref: ref}
        Options.put(options)
        {:ok, schedule(%{options: options, timer: nil}, options.cleanup_interval)}

      {:error, reason} ->
        {:stop, Error.new(:storage_error, "The store cannot be opened", cause: reason)}
    end
  end

  defp open(%{store: store, store_options: store_options, name: name}) do
    store.init(Keyword.put(store_options, :server, name))
  catch
    kind, reason -> {:error, {kind, reason}}
  end

  # There is only one timer, however often a sweep is requested.
  defp schedule(%{timer: timer} = state, time) do
    if timer, do: Process.cancel_timer(timer)
    %{state | timer: Process.send_after(self(), :sweep, time)}
  end

  @impl true
  def handle_info(:sweep, %{options: options} = state) do
    case Storage.delete_expired(options, @batch) do
      {:ok, 0} -> {:noreply, schedule(state, options.cleanup_interval)}
      {:ok, count} -> {:noreply, swept(state, count)}
      # `Storage` has logged the error. The next sweep tries again.
      {:error, _error} -> {:noreply, schedule(state, options.cleanup_interval)}
    end
  end

  def handle_info(_message, state), do: {:noreply, state}

  defp swept(%{options: options} = state, count) do
    Events.emit(options, :expired, %{count: count}, %{})
    schedule(state, if(count == @batch, do: 0, else: options.cleanup_interval))
  end

  # Only a shutdown closes the store. After a crash the next process takes it over.
  @impl true
  def terminate(reason, %{options: options}) do
    if shutdown?(reason) do
      Options.erase(options.name)
      options.store.close(options.ref)
    end
  end

  defp shutdown?(:normal), do: true
  defp shutdown?(:shutdown), do: true
  defp shutdown?({:shutdown, _reason}), do: true
  defp shutdown?(_crash), do: false
end
