defmodule McpServer.Quota.Kinds do
  @moduledoc false
  # The table of everything that clients make this node hold. Whatever a client can add to has a row here, with a limit
  # for all clients together and a share for one.
  #
  # `McpServer.Quota` counts most kinds. The stored ones that give way to others (`:displaced`) are counted where they are
  # stored, in tables that also know which item goes first.

  alias McpServer.Quota

  @mebi 1024 * 1024

  @typedoc "What a kind is counted for."
  @type scope :: :server | :endpoint | :node | :store

  @type name ::
          :connections
          | :body_bytes
          | :hooks
          | :exchanges
          | :calls
          | :argument_bytes
          | :answer_bytes
          | :questions
          | :tool_calls
          | :cleanups
          | :streams
          | :subscription_bytes
          | :requests
          | :identifications
          | :sorts
          | :sessions
          | :event_bytes
          | :session_value_bytes
          | :tasks
          | :task_bytes
          | :task_reads
          | :tokens
          | :tenants
          | :introspections
          | :proofs
          | :consents
          | :rate_limit_marks
          | :run_time_tools
          | :run_time_tool_bytes
          | :ended_sessions
          | :store_changes
          | :page_bytes
          | :results
          | :result_bytes
          | :rate_limit_buckets

  @typedoc """
  * `:of` – what the limit applies to
  * `:unit` – what is counted
  * `:limit` – the option with the limit, also for each scheduler; or a fixed limit
  * `:share` – the option with the percent of one client, a fixed percent or part, or an option with the number itself
  * `:client` – who a client is here, see `McpServer.Quota.Client`; `:owner` is the tenant and subject of a stored result,
    `:tool` is a tool
  * `:full` – whether a client above its share is refused or loses its oldest items, or whether clients share what is there
  * `:by` – the module that counts
  * `:fits` – the option with the size of the largest single item, which always fits into a share
  * `:within` – the kind that each of these also takes, so that it needs no limit of its own
  """
  @type t :: %{
          required(:of) => scope(),
          required(:unit) => :count | :bytes,
          required(:by) => module(),
          optional(:limit) => atom() | {:each_scheduler, atom()} | pos_integer(),
          optional(:share) => atom() | 1..100 | {:part, pos_integer()} | {:count, atom() | pos_integer()},
          optional(:client) => :address | :principal | :owner | :tool,
          optional(:full) => :refused | :displaced | :shared,
          optional(:fits) => atom(),
          optional(:within) => name()
        }

  @refused %{full: :refused, by: Quota}
  @of_server Map.merge(@refused, %{of: :server, unit: :count, share: :max_share, client: :principal})
  @of_address %{@of_server | share: :max_address_share, client: :address}
  @of_node Map.merge(@refused, %{of: :node, unit: :bytes, share: :max_share, client: :principal})
  @displaced %{of: :node, unit: :bytes, share: :max_share, client: :principal, full: :displaced}

  @kinds [
    # Before a request is read, only its address is known.
    connections: Map.put(@of_address, :limit, :max_connections),
    body_bytes: Map.merge(@of_address, %{limit: :max_body_bytes_in_flight, unit: :bytes, fits: :max_message_bytes}),
    hooks: Map.put(@of_address, :limit, :max_hooks),
    calls: Map.put(@of_server, :limit, {:each_scheduler, :max_calls}),
    # Of them, the calls of one tool.
    tool_calls: %{
      of: :server,
      unit: :count,
      by: McpServer.Dispatch.ToolPlaces,
      within: :calls,
      share: :max_tool_share,
      client: :tool
    },
    # What calls keep of their long requests, also while they wait for their client's input.
    argument_bytes: Map.merge(@of_server, %{limit: :max_argument_bytes, unit: :bytes, fits: :max_message_bytes}),
    # What is not yet sent of long answers, and of events that a client asks for again.
    answer_bytes: Map.merge(@of_server, %{limit: :max_answer_bytes, unit: :bytes}),
    # Calls that wait for their client's input are none of `calls`. When they go on they take a place, even if none is
    # free, so there are no more of them than places.
    questions: Map.put(@of_server, :limit, {:each_scheduler, :max_calls}),
    streams: Map.put(@of_server, :limit, {:each_scheduler, :max_streams}),
    subscription_bytes: Map.merge(@of_server, %{limit: :max_subscription_bytes, unit: :bytes}),
    # Requests that wait for a session or for stored results. Under a plug each has a process of the web server.
    exchanges: %{of: :server, unit: :count, by: Quota, within: :connections},
    requests: Map.merge(@of_server, %{of: :endpoint, limit: :max_requests}),
    # Of them, those of which only the address is known yet.
    identifications: Map.merge(@of_server, %{of: :endpoint, limit: :max_requests, client: :address}),
    # Sorts of many stored rows: each takes a scheduler for up to a second, and tens of megabytes.
    sorts: Map.merge(@of_server, %{of: :endpoint, limit: 8, share: {:count, 2}}),
    sessions: Map.merge(@of_node, %{limit: :max_sessions, unit: :count}),
    tasks: Map.merge(@of_node, %{limit: :max_tasks, unit: :count, share: {:count, :max_tasks_per_owner}}),
    task_bytes: Map.put(@of_node, :limit, :max_bytes),
    # Results of tasks that calls read, on the node of the call. A client can ask for one many times at once.
    task_reads: Map.put(@of_node, :limit, :max_bytes),
    session_value_bytes: Map.merge(@of_node, %{limit: 64 * @mebi, share: 25}),
    # Handlers that clean up after their calls have ended. A client can cancel faster than they do.
    cleanups: Map.merge(@of_node, %{limit: 1_000, unit: :count, share: 25}),
    # Changes in a store, which go on when their clients have left.
    store_changes: Map.merge(@of_node, %{limit: 256, unit: :count, share: 25}),
    # Requests to issuers, which go on when their clients have left. An issuer gets at most twice the share at once.
    introspections: Map.merge(@of_node, %{limit: 1_024, unit: :count, share: {:count, 32}, client: :address}),
    # What is dropped early could be used again.
    proofs: Map.merge(@of_node, %{limit: 1_000_000, unit: :count, share: {:part, 8}}),
    consents: Map.merge(@of_node, %{limit: 100_000, unit: :count, share: {:part, 8}}),
    # Without a mark an answer to a question counts as a call.
    rate_limit_marks: Map.merge(@of_node, %{limit: 100_000, unit: :count, share: 25}),
    # With the tags that are enabled or disabled. Those of a sealed session stay when its client has left.
    run_time_tools: Map.merge(@of_node, %{limit: :max_tools, unit: :count, share: 25}),
    run_time_tool_bytes: Map.merge(@of_node, %{limit: :max_bytes, share: 25}),
    # Beyond its share a client has one bucket for each statement.
    rate_limit_buckets: Map.merge(@of_node, %{limit: 100_000, unit: :count, share: {:part, 8}, full: :shared}),
    event_bytes: Map.merge(@of_node, %{limit: 64 * @mebi, full: :displaced}),
    # The core counts them.
    tokens:
      Map.merge(@displaced, %{of: :server, limit: :cache, unit: :count, share: {:part, 8}, by: McpServer.Auth.Cache}),
    # Those that tokens only name. The proven ones have as many places of their own.
    tenants:
      Map.merge(@displaced, %{
        of: :server,
        limit: 100,
        unit: :count,
        share: {:part, 8},
        client: :address,
        by: McpServer.Auth.Tenants.Places
      }),
    ended_sessions:
      Map.merge(@displaced, %{limit: 100_000, unit: :count, share: 25, by: McpServer.Http.Session.Tombstones}),
    page_bytes:
      Map.merge(@displaced, %{
        of: :endpoint,
        limit: :max_page_bytes,
        client: :owner,
        by: McpServer.DualResponse.Rest.Pages
      }),
    results:
      Map.merge(@displaced, %{
        of: :store,
        limit: :max_resources,
        unit: :count,
        client: :owner,
        by: McpServer.DualResponse.Room
      }),
    result_bytes:
      Map.merge(@displaced, %{of: :store, limit: :max_bytes, client: :owner, by: McpServer.DualResponse.Room})
  ]

  @doc "All kinds."
  @spec all() :: [{name(), t()}]
  def all, do: @kinds

  @counted for(
             scope <- [:server, :endpoint, :node],
             do: {scope, for({name, %{of: ^scope, by: Quota}} <- @kinds, do: name)}
           )

  @doc "The kinds of a scope that `McpServer.Quota` counts, in the order of their counters."
  @spec counted(scope()) :: [name()]
  def counted(scope), do: Keyword.fetch!(@counted, scope)

  @doc "The place of a kind among the counters of its quota."
  @spec index(name()) :: pos_integer()
  for {_scope, names} <- @counted, {name, index} <- Enum.with_index(names, 1) do
    def index(unquote(name)), do: unquote(index)
  end

  @doc "The limit and the share of a kind with these options. What names an option that is missing is `:infinity`."
  @spec bound(name(), options :: %{optional(atom()) => term()}) :: Quota.bound()
  def bound(name, options) do
    kind = Keyword.fetch!(@kinds, name)
    limit = limit(kind[:limit], options)
    {limit, max(share(limit, kind[:share], options), number(kind[:fits], options, 1))}
  end

  defp limit({:each_scheduler, option}, options),
    do: with(limit when is_integer(limit) <- limit(option, options), do: limit * System.schedulers_online())

  defp limit(option, options), do: number(option, options, :infinity)

  # Every integer is less than an atom.
  defp share(limit, {:part, parts}, _options) when is_integer(limit), do: max(1, div(limit, parts))
  defp share(_limit, {:count, option}, options), do: number(option, options, :infinity)
  defp share(:infinity, _share, _options), do: :infinity

  defp share(limit, option, options),
    do: with(percent when is_integer(percent) <- number(option, options, :infinity), do: Quota.share(limit, percent))

  defp number(number, _options, _otherwise) when is_integer(number), do: number
  defp number(option, options, otherwise), do: Map.get(options, option, otherwise)
end
