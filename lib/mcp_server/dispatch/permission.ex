defmodule McpServer.Dispatch.Permission do
  @moduledoc false
  # Decides whether the entry of a request exists for its client, and whether the client may use it. The `visible:` and
  # `authorize:` functions of the declaration decide. They are user code, so they run in the process of the call.

  require Logger

  alias McpServer.{Access, Catalog, Conn, Protocol, Request}
  alias McpServer.Dispatch.{Failure, Handler, Reason}

  @type refusal :: :forbidden | String.t() | {:insufficient_scope, [String.t()]}

  @typedoc """
  * `:hidden` – the entry does not exist for this client
  * `{:answered, answer}` – the core refused the request; only clients that may see the entry get this answer
  """
  @type verdict ::
          :ok
          | :hidden
          | {:forbidden, refusal()}
          | {:answered, {status :: pos_integer(), Protocol.message()}}
          | {:failed, Failure.t()}

  @doc "The verdict on a request for an entry of the router. Functions of the user may raise, and the caller must catch it."
  @spec judge(entry :: map() | nil, Request.t(), Conn.t()) :: verdict()
  def judge(%{access: access}, request, conn), do: judge_guarded(access, request, about(conn, request))
  def judge(_open, request, _conn), do: refused_before(request)

  defp judge_guarded(%{rule: rule, checks: checks}, request, conn) do
    with :ok <- there(rule || [], conn),
         :ok <- refused_before(request),
         do: asked(checks, conn, arguments(request), :forbidden)
  end

  @doc """
  Whether nothing of the application decides on a request before its handler begins. Requests about tasks and lists are
  free: they wait for their answer, whatever is decided.
  """
  @spec free?(Catalog.t(), Request.t()) :: boolean()
  def free?(%Catalog{server: %{context: context}}, _request) when context != nil, do: false
  # An unknown name, which a hidden entry stands in for.
  def free?(_catalog, %Request{index: nil, run_time: nil, stand_in: stand_in}) when stand_in != nil, do: false
  def free?(catalog, request), do: not match?(%{access: _guarded}, Handler.entry(catalog, request))

  @doc """
  Takes the time of the check whether an entry exists, for a name that no entry has. Functions that get arguments are not
  called: theirs have been checked for their own entry.
  """
  @spec pretend(entry :: map() | nil, Request.t(), Conn.t()) :: :ok
  def pretend(%{access: %{rule: rule}}, request, conn) do
    _verdict = there(rule || [], about(conn, request))
    :ok
  catch
    _kind, _reason -> :ok
  end

  def pretend(_open, _request, _conn), do: :ok

  @doc "Whether the client may still use an entry. Only functions that need nothing but the conn are called."
  @spec ask_again(entry :: map(), Conn.t()) :: :ok | :hidden | {:forbidden, refusal()} | {:failed, Failure.t()}
  def ask_again(%{access: %{rule: rule, checks: checks}}, conn) do
    of_conn = for {_key, {:conn, _module, _function, _more}} = check <- checks, do: check
    with :ok <- there(rule || [], conn), do: asked(of_conn, conn, %{}, :forbidden)
  end

  def ask_again(_open, _conn), do: :ok

  defp refused_before(%Request{refusal: nil}), do: :ok
  defp refused_before(%Request{refusal: answer}), do: {:answered, answer}

  # All functions are called, as for a list: if one hides the entry, the client is not told of a missing scope.
  defp there([], _conn), do: :ok

  defp there([first | rest], conn) do
    case asked([first], conn, %{}, :hidden) do
      :ok -> there(rest, conn)
      {:forbidden, _missing} = refused -> with :ok <- there(rest, conn), do: refused
      hidden_or_failed -> hidden_or_failed
    end
  end

  defp known_or_hidden({_key, decider} = check, conn),
    do: or_hidden(decider, fn -> asked([check], conn, %{}, :hidden) end)

  # If the function raises, the entry is hidden, and the error is logged.
  defp or_hidden(decider, ask) do
    with {:failed, failure} <- ask.(), do: unknown(decider, failure)
  catch
    kind, reason -> unknown(decider, Failure.new(kind, reason, __STACKTRACE__))
  end

  defp unknown(decider, failure) do
    what = "#{Access.name(decider)}, which decides whether an entry is visible,"

    if Reason.mistake?(failure.reason),
      do: Logger.info("MCP #{what} raised for what a client sent"),
      else: Failure.log(failure, what)

    :hidden
  end

  # A client can get a missing scope, so it is told the scope and the entry.
  defp asked([], _conn, _arguments, _refused), do: :ok

  # An error of `visible:` would tell the client that the entry exists.
  defp asked([{:visible, decider} | rest], conn, arguments, refused) do
    with :ok <- or_hidden(decider, fn -> seen(Access.ask(decider, conn, arguments)) end),
         do: asked(rest, conn, arguments, refused)
  end

  defp asked([{_key, decider} | rest], conn, arguments, refused) do
    case Access.ask(decider, conn, arguments) do
      :ok -> asked(rest, conn, arguments, refused)
      {:refused, {:insufficient_scope, _scopes} = refusal} -> {:forbidden, refusal}
      {:refused, _refusal} when refused == :hidden -> :hidden
      {:refused, refusal} -> {:forbidden, refusal}
      {:invalid, text} -> {:failed, Failure.invalid_result(text)}
    end
  end

  defp seen(:ok), do: :ok
  defp seen({:refused, _refusal}), do: :hidden
  defp seen({:invalid, text}), do: {:failed, Failure.invalid_result(text)}

  # A completion is checked with the arguments that the client has filled in already.
  defp arguments(%Request{kind: kind, arguments: arguments}) when kind in [:complete_prompt, :complete_resource],
    do: arguments["context"] || %{}

  defp arguments(%Request{arguments: arguments}), do: arguments

  # One function can decide on all URIs of a template.
  defp about(conn, %Request{kind: kind, name: uri, arguments: variables}) when kind in [:resource, :resource_template],
    # A function that compares URIs knows one form of each.
    do: conn |> Conn.put_private(:uri, Protocol.normal_uri(uri)) |> Conn.put_private(:variables, variables)

  defp about(conn, %Request{kind: :complete_resource} = request),
    do: Conn.put_private(conn, :variables, arguments(request))

  defp about(conn, _request), do: conn

  @doc """
  The entries that the client may see: one bit per rule of the router. Rule 0 is the lowest bit of the first byte.

  If a function raises, the entries of its rules are hidden, and the error is logged.
  """
  @spec grant(Catalog.t(), Conn.t()) :: binary()
  def grant(%Catalog{rules: rules}, conn) do
    {bits, _said} = rules |> Tuple.to_list() |> Enum.map_reduce(%{}, &allowed(&1, &2, conn))
    number = bits |> Enum.reverse() |> Integer.undigits(2)
    <<number::little-size(div(tuple_size(rules) + 7, 8))-unit(8)>>
  end

  @doc "The objects of a list that the client may see."
  @spec granted(Catalog.t(), atom(), [struct()], Conn.t()) :: [struct()]
  def granted(catalog, list, objects, conn) do
    objects |> Enum.zip(catalog |> entries(list) |> Tuple.to_list()) |> shown(conn)
  end

  @doc "The objects that the client may see. Each comes with its entry."
  @spec shown([{object, entry :: map()}], Conn.t()) :: [object] when object: term()
  def shown(objects, conn) do
    {shown, _said} =
      Enum.map_reduce(objects, %{}, fn {_object, entry}, said ->
        allowed((entry[:access] && entry.access.rule) || [], said, conn)
      end)

    for {{object, _entry}, 1} <- Enum.zip(objects, shown), do: object
  end

  defp entries(catalog, :list_tools), do: catalog.tools
  defp entries(catalog, :list_prompts), do: catalog.prompts
  defp entries(catalog, :list_resources), do: catalog.resources
  defp entries(catalog, :list_resource_templates), do: catalog.templates

  # Rules share functions, and each function is called once. A missing scope hides an entry only with `visible`.
  defp allowed([], said, _conn), do: {1, said}

  defp allowed([asked | rest], said, conn) do
    said = Map.put_new_lazy(said, asked, fn -> known_or_hidden(asked, conn) != :hidden end)
    if said[asked], do: allowed(rest, said, conn), else: {0, said}
  end

  @doc """
  Whether the client may read the URI, and so get its changes. False for an unknown URI, after a check of a stand-in.
  """
  @spec readable?(Catalog.t(), Request.t(), Conn.t(), uri :: String.t()) :: boolean()
  def readable?(catalog, request, conn, uri) do
    if Protocol.find_resource(catalog, uri, []) == :not_found do
      pretend(catalog, request, conn, uri)
      false
    else
      readable?(catalog, request, conn, uri, [])
    end
  end

  # Otherwise an answer without a check would tell that no resource has the URI.
  defp pretend(catalog, request, conn, uri) do
    case for %{access: %{rule: [_ | _]}} = entry <-
               Tuple.to_list(catalog.resources) ++ Tuple.to_list(catalog.templates),
             do: entry do
      [] ->
        :ok

      hidden ->
        entry = Enum.at(hidden, :erlang.phash2(Protocol.normal_uri(uri), length(hidden)))
        pretend(entry, %{request | kind: :resource, name: uri, arguments: %{}}, conn)
    end
  end

  defp readable?(catalog, request, conn, uri, without) do
    with {kind, index, variables} <- Protocol.find_resource(catalog, uri, without) do
      request = %{request | kind: kind, index: index, name: uri, arguments: variables}
      entry = Handler.entry(catalog, request)

      case judge(entry, Handler.keyed(entry, request), conn) do
        :ok -> true
        :hidden -> readable?(catalog, request, conn, uri, [{kind, index} | without])
        {:failed, failure} -> unreadable(failure)
        _refused -> false
      end
    else
      :not_found -> false
    end
  end

  # The URI is the client's, and no data of a client is logged.
  defp unreadable(failure) do
    Failure.log(failure, "the permission to hear of a resource's changes")
    false
  end
end
