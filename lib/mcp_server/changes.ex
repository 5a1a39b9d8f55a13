defmodule McpServer.Changes do
  @moduledoc """
  Notifies connected clients of changed lists and resources.

      McpServer.Changes.tools_changed(MyApp.MCP)
      McpServer.Changes.resource_updated(MyApp.MCP, "config://app")

  A notification goes to the clients of the router on every connected node. With sessions, initialized clients get list
  changes, and subscribed clients get resource updates. Clients of 2026-07-28 get the changes that their
  `subscriptions/listen` streams ask for. Other clients get nothing. If changes come faster than a client reads, it gets
  one notification for all of them.

  `to:` limits a notification to the clients of one principal, or to one session:

      McpServer.Changes.tools_changed(MyApp.MCP, to: [principal: "ada"])
      McpServer.Changes.resource_updated(MyApp.MCP, "config://app", to: [session: conn.session_id])

  Other options raise `ArgumentError`, so that no mistake notifies everybody.

  Changes are not stored, because a client that connects later reads the current lists.

  ## Reloaded code

  A served router can be recompiled by Phoenix's code reloader, by `recompile` in IEx or by a release upgrade. The
  clients of the node are then notified of changed lists, within a second or with the next request. For lists that the
  router computes (`list_tools/1`), call the functions below.
  """

  alias McpServer.Changes.Hub
  alias McpServer.Http.Cluster.Node, as: Home
  alias McpServer.{Outline, Protocol, Recipient}
  alias McpServer.Quota.Keeper

  # The processes of clients that have missed changes.
  @missed Module.concat(__MODULE__, Missed)

  # The processes that want a change, and the changes that a process wants. A session hears of every list, so it wants only
  # the resources that it has subscribed to, and what is for it alone.
  @streams Module.concat(__MODULE__, Streams)
  @wanted Module.concat(__MODULE__, Wanted)

  # The message queue length of a client's process at which messages are dropped.
  @most_waiting 1_000

  @typedoc "The recipients of a notification: the clients of a principal, or a session."
  @type recipient :: [principal: term()] | [session: String.t()]

  # From `publish/3` on, the URI is in its normal form.
  @type change :: :tools | :prompts | :resources | {:resource, uri :: String.t()}

  # What a process wants: all that a session or a stream without a session gets, a change, or all that is for one recipient.
  @typedoc false
  @type wish :: :session | :stream | change() | {:to, Recipient.t()}

  # `:all` is everything that a client has subscribed to.
  @typedoc false
  @type notice :: change() | :all

  @doc "Notifies clients that the list of tools has changed."
  @spec tools_changed(router :: module(), to: recipient()) :: :ok
  def tools_changed(router, options \\ []), do: publish(router, :tools, recipient!(options))

  @doc "Notifies clients that the list of prompts has changed."
  @spec prompts_changed(router :: module(), to: recipient()) :: :ok
  def prompts_changed(router, options \\ []), do: publish(router, :prompts, recipient!(options))

  @doc "Notifies clients that the list of resources or of resource templates has changed."
  @spec resources_changed(router :: module(), to: recipient()) :: :ok
  def resources_changed(router, options \\ []), do: publish(router, :resources, recipient!(options))

  @doc """
  Notifies clients that the resource `uri` has changed: those that have subscribed to this URI. `note://%7eada` and
  `note://~ada` are one URI (RFC 3986, section 6.2.2), and each client is told the text that it has subscribed to. A client
  that has subscribed to `note://042` hears nothing of `note://42`.
  """
  @spec resource_updated(router :: module(), uri :: String.t(), to: recipient()) :: :ok
  def resource_updated(router, uri, options \\ []) when is_binary(uri),
    do: publish(router, {:resource, uri}, recipient!(options))

  # An option that is not known would otherwise notify all clients.
  defp recipient!([]), do: :router

  defp recipient!([{:to, to}]) do
    case Recipient.new(to) do
      {:ok, recipient} -> recipient
      {:error, text} -> raise ArgumentError, "to: of a change: " <> text
    end
  end

  defp recipient!(options) do
    raise ArgumentError,
          "a change has only the option to:. Write to: [principal: principal], or to: [session: id], got: " <>
            Outline.of(options)
  end

  # Sends an encoded log message of one level to sessions.
  @doc false
  @spec log(router :: module(), Recipient.t(), level :: String.t(), McpServer.Protocol.message()) :: :ok
  def log(router, recipient, level, message) do
    for node <- Home.others(), do: :erpc.cast(node, __MODULE__, :log_here, [router, recipient, level, message])
    log_here(router, recipient, level, message)
  end

  @doc false
  @spec log_here(router :: module(), Recipient.t(), level :: String.t(), McpServer.Protocol.message()) :: :ok
  def log_here(router, recipient, level, message) do
    for pid <- sessions(router, recipient), not busy?(pid), do: send(pid, {:mcp_log, recipient, level, message})
    :ok
  end

  # The sessions that something may be for, and the streams of a principal. Others are not woken.
  defp sessions(router, :router), do: wanting(router, :session)
  defp sessions(router, recipient), do: wanting(router, {:to, recipient})

  defp wanting(router, wish), do: for([pid] <- :ets.match(@streams, {{{router, wish}, :"$1"}}), do: pid)

  # Drops messages for slow readers, so that their message queues stay bounded.
  defp busy?(pid),
    do: match?({:message_queue_len, waiting} when waiting >= @most_waiting, Process.info(pid, :message_queue_len))

  # Makes the tables. The calling process owns them.
  @doc false
  @spec create_tables() :: :ok
  def create_tables do
    :ets.new(@missed, [:named_table, :public, write_concurrency: true])

    for table <- [@streams, @wanted],
        do: :ets.new(table, [:named_table, :public, :ordered_set, write_concurrency: true])

    Hub.create_table()
  end

  # The `:pg` scope of the changes.
  @doc false
  @spec child_spec(term()) :: Supervisor.child_spec()
  def child_spec(_options), do: %{id: __MODULE__, start: {:pg, :start_link, [__MODULE__]}}

  # Subscribes the calling process, a session, to `{:mcp_change, list}` of this router. The change `:all` stands for those
  # that the process has missed: it calls `caught_up/0`, and notifies its client of everything.
  @doc false
  @spec listen(router :: module()) :: :ok
  def listen(router) do
    # What it wants is forgotten when it ends.
    :ok = Keeper.watch()
    listen(router, :session, [])
  end

  # Subscribes a stream to these changes only. Others do not wake its process.
  @doc false
  @spec listen(router :: module(), [change()]) :: :ok
  def listen(router, changes), do: listen(router, :stream, changes)

  defp listen(router, kind, changes) do
    :ok = want(router, [kind | changes])
    Hub.join(router)
  end

  # Subscribes a listening process to more.
  @doc false
  @spec want(router :: module(), [wish()]) :: :ok
  def want(router, wishes) do
    :ets.insert(@wanted, for(wish <- wishes, do: {{self(), {router, wish}}}))
    :ets.insert(@streams, for(wish <- wishes, do: {{{router, wish}, self()}}))
    :ok
  end

  @doc false
  @spec unwant(router :: module(), wish()) :: :ok
  def unwant(router, wish) do
    :ets.delete(@streams, {{router, wish}, self()})
    :ets.delete(@wanted, {self(), {router, wish}})
    :ok
  end

  # Unsubscribes the calling process, which is a stream.
  @doc false
  @spec unlisten() :: :ok
  def unlisten do
    ended(self())
    forget()
    caught_up()
    :ok
  end

  # Forgets what a process wanted that has ended.
  @doc false
  @spec ended(pid()) :: :ok
  def ended(pid) do
    for [wanted] <- :ets.match(@wanted, {{pid, :"$1"}}) do
      :ets.delete(@streams, {wanted, pid})
      :ets.delete(@wanted, {pid, wanted})
    end

    :ok
  end

  defp forget do
    receive do
      {:mcp_change, _change} -> forget()
      {:mcp_change, _change, _recipient} -> forget()
      {:mcp_log, _recipient, _level, _message} -> forget()
      {:mcp_disconnect, _recipient} -> forget()
    after
      0 -> :ok
    end
  end

  # For a change of this node's state: notifies only the clients of this node.
  @doc false
  @spec publish_here(router :: module(), change(), Recipient.t()) :: :ok
  def publish_here(router, change, recipient \\ :router) do
    tell(listeners(router, change, recipient), change, recipient)
  end

  defp listeners(router, {:resource, _uri} = change, _recipient), do: wanting(router, change)
  defp listeners(router, list, :router), do: sessions(router, :router) ++ wanting(router, list)
  # Streams of the principal are among them. No stream is of a session.
  defp listeners(router, _list, recipient), do: sessions(router, recipient)

  # Ends the streams without a session on this node by that time, in `System.monotonic_time/1` milliseconds.
  @doc false
  @spec drain_here(router :: module(), until :: integer()) :: :ok
  def drain_here(router, until), do: send_here(router, {:mcp_http_drain, until})

  # Ends the recipient's streams without a session on this node.
  @doc false
  @spec disconnect_here(router :: module(), Recipient.t()) :: :ok
  def disconnect_here(router, recipient), do: send_here(router, {:mcp_disconnect, recipient})

  defp send_here(router, message), do: Enum.each(listeners_here(router), &send(&1, message))

  # The sessions and streams of a router on this node.
  @doc false
  @spec listeners_here(router :: module()) :: [pid()]
  def listeners_here(router), do: wanting(router, :session) ++ wanting(router, :stream)

  # The routers that have listeners on this node.
  @doc false
  @spec listened_to_here() :: [module()]
  def listened_to_here, do: routers(:ets.first(@streams))

  defp routers(:"$end_of_table"), do: []
  # No wish is greater than a binary, so that the next row is that of another router.
  defp routers({{router, _wish}, _pid}), do: [router | routers(:ets.next(@streams, {{router, ""}, nil}))]

  @doc false
  @spec publish(router :: module(), change(), Recipient.t()) :: :ok
  def publish(router, change, recipient) do
    change = normal(change)
    for node <- Hub.others(router), do: :erpc.cast(node, __MODULE__, :publish_here, [router, change, recipient])
    publish_here(router, change, recipient)
  end

  # Subscribers may have written the URI in another form.
  defp normal({:resource, uri}), do: {:resource, Protocol.normal_uri(uri)}
  defp normal(list), do: list

  defp tell(listeners, change, :router), do: Enum.each(listeners, &tell(&1, {:mcp_change, change}))
  defp tell(listeners, change, recipient), do: Enum.each(listeners, &tell(&1, {:mcp_change, change, recipient}))

  # A process that waits in a write for a client that does not read gets one message for all further changes.
  defp tell(pid, message) do
    cond do
      not busy?(pid) -> send(pid, message)
      :ets.insert_new(@missed, {pid}) -> missed(pid)
      true -> :missed_before
    end
  end

  # Processes may end before they catch up.
  defp missed(pid) do
    send(pid, {:mcp_change, :all})
    for {pid} <- :ets.tab2list(@missed), not Process.alive?(pid), do: :ets.delete(@missed, pid)
  end

  # The calling process has got the change `:all`. What changes from now on is another message.
  @doc false
  @spec caught_up() :: true
  def caught_up, do: :ets.delete(@missed, self())
end
