defmodule McpServer.DualResponse.Errand do
  @moduledoc false
  # A change of a store that runs to its end, whatever happens to the process that wants it.
  #
  # A client can leave at any moment, and the process that serves it is killed. A change on its way to a database or to
  # other nodes goes on then. So it runs in a process of its own, which is not killed: what belongs to the change, such
  # as making room for what was saved, is done too. That process has a place of its client (`:store_changes`) until the
  # store has ended the change, so a client that leaves again and again has no more of them than its share.
  #
  # A process that lives has a place already, such as that of a call. So it may wait for a place here.
  #
  # A change that ends with its process, such as one of `Store.ETS`, runs in the calling process.

  alias McpServer.{Callers, Quota}
  alias McpServer.DualResponse.{Error, Options}
  alias McpServer.Native.Dirty
  alias McpServer.Quota.{Client, Keeper}

  # Milliseconds. Few changes ever wait.
  @patience 5_000
  @poll 20

  @typedoc """
  * `:client` – who the client is if the calling process works for none
  * `:wait` – whether to wait for a place
  * `:settle` – called if the store has given up the change (`leave_behind/1`), when the change has ended
  """
  @type option :: {:client, Client.t()} | {:wait, boolean} | {:settle, (() -> term)}

  @doc "The result of the change `work`, or an error if the client gets no place."
  @spec run(Options.t(), [option], (() -> result)) :: result | {:error, Error.t()} when result: term
  def run(server, options, work) do
    if here?() or ends_with_caller?(server), do: work.(), else: start(options, work)
  end

  @doc "Whether a change of the store ends with the process that calls the store."
  @spec ends_with_caller?(Options.t()) :: boolean
  def ends_with_caller?(%{store: store, ref: ref}),
    do: function_exported?(store, :ends_with_caller?, 1) and store.ends_with_caller?(ref)

  @doc "The client that the owner of a resource is."
  @spec owner({tenant :: term, subject :: term}) :: Client.t()
  def owner({nil, nil}), do: nil
  def owner(holder), do: Client.new(holder, nil)

  # `McpServer.Call.Reaper` ends the children of a request's process, so the new process is the child of another one. The
  # change is sent to it when it has a place, so that rows are copied once, and not for a process that waits.
  defp start(options, work) do
    caller = self()
    tag = make_ref()
    client = Dirty.client() || options[:client]
    patience = if Keyword.get(options, :wait, true), do: @patience, else: 0
    {:max_heap_size, heap} = Process.info(caller, :max_heap_size)
    spawn(fn -> :erlang.spawn_opt(fn -> serve(caller, tag, client, patience) end, max_heap_size: heap) end)

    receive do
      {^tag, :full} -> {:error, Error.new(:storage_error, "The store is busy", cause: :full)}
      {^tag, pid} -> hand_over(pid, tag, work, options[:settle])
    end
  end

  defp hand_over(pid, tag, work, settle) do
    monitor = :erlang.monitor(:process, pid, alias: :reply_demonitor)
    send(pid, {tag, monitor, {Callers.here(), :logger.get_process_metadata()}, work, settle})

    receive do
      {^monitor, result} ->
        result

      {:DOWN, ^monitor, :process, ^pid, reason} ->
        {:error, Error.new(:storage_error, "The store failed", cause: reason)}
    end
  end

  defp serve(caller, tag, client, patience) do
    monitor = Process.monitor(caller)

    case take(Quota.own(Quota.of_node()), client, monitor, now() + patience) do
      :ok ->
        Dirty.work_for(client)
        send(caller, {tag, self()})

        receive do
          {^tag, reply, context, work, settle} -> perform(reply, context, work, settle)
          # The caller was killed before it has sent the change.
          {:DOWN, ^monitor, :process, ^caller, _reason} -> :ok
        end

      :full ->
        send(caller, {tag, :full})

      :killed ->
        :ok
    end
  end

  defp take(quota, client, monitor, due) do
    with :full <- Quota.take(quota, :store_changes, client, 1) do
      if now() < due, do: wait(quota, client, monitor, due), else: :full
    end
  end

  defp wait(quota, client, monitor, due) do
    receive do
      {:DOWN, ^monitor, :process, _caller, _reason} -> :killed
    after
      @poll -> take(quota, client, monitor, due)
    end
  end

  defp perform(reply, {callers, metadata}, work, settle) do
    Callers.set(callers)
    if is_map(metadata), do: :logger.set_process_metadata(metadata)
    Process.put(__MODULE__, [])
    result = work.()

    case Process.get(__MODULE__) do
      # The place is given back before the answer, so that the client's next change finds it.
      [] ->
        Keeper.leave()
        send(reply, {reply, result})

      _left_behind ->
        send(reply, {reply, result})
        :ok = await()
        if settle, do: settle.()
        :ok = await()
    end
  end

  # The changes that the store has given up.
  defp await do
    for monitor <- Process.put(__MODULE__, []), do: receive(do: ({:DOWN, ^monitor, :process, _pid, _reason} -> :ok))
    :ok
  end

  @doc "Tells that a monitored process goes on with a change that the store does not wait for any longer."
  @spec leave_behind(reference) :: :ok
  def leave_behind(monitor) do
    if here?(),
      do: Process.put(__MODULE__, [monitor | Process.get(__MODULE__)]),
      else: Process.demonitor(monitor, [:flush])

    :ok
  end

  defp here?, do: Process.get(__MODULE__) != nil

  defp now, do: System.monotonic_time(:millisecond)
end
