defmodule McpServer.Dispatch.Permission do
  @moduledoc false
  # Whether what a request names is there for its client, and whether the client may use it: what the `visible:` and
  # `authorize:` functions of the declaration say. They are the user's code, so this runs in the process of the call.

  alias McpServer.{Access, Catalog, Conn, Protocol, Request}
  alias McpServer.Dispatch.{Failure, Handler}

  @type refusal :: :forbidden | String.t() | {:insufficient_scope, [String.t()]}

  @typedoc """
  * `:hidden` – to this client the entry does not exist
  * `{:answered, answer}` – the request was refused before, which only those are told who may know of the entry
  """
  @type verdict ::
          :ok
          | :hidden
          | {:forbidden, refusal()}
          | {:answered, {status :: pos_integer(), Protocol.message()}}
          | {:failed, Failure.t()}

  @doc "What becomes of the request. What a function raises is the caller's to catch."
  @spec judge(Catalog.t(), Request.t(), Conn.t()) :: verdict()
  def judge(catalog, request, conn) do
    case Handler.entry(catalog, request) do
      %{access: access} -> judge_guarded(access, request, about(conn, request))
      _open -> refused_before(request)
    end
  end

  defp judge_guarded(%{rule: rule, checks: checks}, request, conn) do
    with :ok <- there(rule || [], conn),
         :ok <- refused_before(request),
         do: asked(checks, conn, arguments(request), :forbidden)
  end

  @doc "Whether the client may still use an entry: what the functions that are called with the conn alone say."
  @spec ask_again(entry :: map(), Conn.t()) :: :ok | :hidden | {:forbidden, refusal()} | {:failed, Failure.t()}
  def ask_again(%{access: %{rule: rule, checks: checks}}, conn) do
    of_conn = for {_key, {:conn, _module, _function, _more}} = check <- checks, do: check
    with :ok <- there(rule || [], conn), do: asked(of_conn, conn, %{}, :forbidden)
  end

  def ask_again(_open, _conn), do: :ok

  defp refused_before(%Request{refusal: nil}), do: :ok
  defp refused_before(%Request{refusal: answer}), do: {:answered, answer}

  # All are asked, as for a list: of a scope that is missing nobody is told for whom another function hides the entry.
  defp there([], _conn), do: :ok

  defp there([first | rest], conn) do
    case known(first, conn) do
      :ok -> there(rest, conn)
      {:forbidden, _missing} = refused -> with :ok <- there(rest, conn), do: refused
      hidden_or_failed -> hidden_or_failed
    end
  end

  # An error of `visible:` would tell the client that the entry exists.
  defp known({:visible, _decider} = check, conn), do: known_or_hidden(check, conn)
  defp known(check, conn), do: asked([check], conn, %{}, :hidden)

  # A function that fails hides its entry, and is an error in the log.
  defp known_or_hidden({_key, decider} = check, conn) do
    with {:failed, failure} <- asked([check], conn, %{}, :hidden), do: unknown(decider, failure)
  catch
    kind, reason -> unknown(decider, Failure.new(kind, reason, __STACKTRACE__))
  end

  defp unknown(decider, failure) do
    Failure.log(failure, "#{Access.name(decider)}, which decides whether an entry is visible,")
    :hidden
  end

  # A scope that is missing can be got, so the client is told of it, and of what it is missing for.
  defp asked([], _conn, _arguments, _refused), do: :ok

  defp asked([{key, decider} | rest], conn, arguments, refused) do
    case Access.ask(decider, conn, arguments) do
      :ok -> asked(rest, conn, arguments, refused)
      {:refused, _refusal} when key == :visible -> :hidden
      {:refused, {:insufficient_scope, _scopes} = refusal} -> {:forbidden, refusal}
      {:refused, _refusal} when refused == :hidden -> :hidden
      {:refused, refusal} -> {:forbidden, refusal}
      {:invalid, text} -> {:failed, Failure.invalid_result(text)}
    end
  end

  # What is completed is asked about with what the client has filled in already.
  defp arguments(%Request{kind: kind, arguments: arguments}) when kind in [:complete_prompt, :complete_resource],
    do: arguments["context"] || %{}

  defp arguments(%Request{arguments: arguments}), do: arguments

  # One function can decide about every URI of a template.
  defp about(conn, %Request{kind: kind, name: uri, arguments: variables}) when kind in [:resource, :resource_template],
    do: conn |> Conn.put_private(:uri, uri) |> Conn.put_private(:variables, variables)

  defp about(conn, %Request{kind: :complete_resource} = request),
    do: Conn.put_private(conn, :variables, arguments(request))

  defp about(conn, _request), do: conn

  @doc """
  What the client may know of: a bit for each of the router's rules, that of rule 0 the lowest of the first byte.

  A function that fails here hides what it decides about, and is an error in the log.
  """
  @spec grant(Catalog.t(), Conn.t()) :: binary()
  def grant(%Catalog{rules: rules}, conn) do
    {bits, _said} = rules |> Tuple.to_list() |> Enum.map_reduce(%{}, &allowed(&1, &2, conn))
    number = bits |> Enum.reverse() |> Integer.undigits(2)
    <<number::little-size(div(tuple_size(rules) + 7, 8))-unit(8)>>
  end

  @doc "Those of the objects of a list that the client may know of."
  @spec granted(Catalog.t(), atom(), [struct()], Conn.t()) :: [struct()]
  def granted(catalog, list, objects, conn) do
    objects |> Enum.zip(catalog |> entries(list) |> Tuple.to_list()) |> shown(conn)
  end

  @doc "Those of objects, beside their entries, that the client may know of."
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

  # Rules share functions, and each is asked once. A missing scope hides by `visible` only.
  defp allowed([], said, _conn), do: {1, said}

  defp allowed([asked | rest], said, conn) do
    said = Map.put_new_lazy(said, asked, fn -> known_or_hidden(asked, conn) != :hidden end)
    if said[asked], do: allowed(rest, said, conn), else: {0, said}
  end

  @doc "Whether the client may read the URI, and so hear of its changes; one that does not exist nobody may."
  @spec readable?(Catalog.t(), Request.t(), Conn.t(), uri :: String.t()) :: boolean()
  def readable?(catalog, request, conn, uri), do: readable?(catalog, request, conn, uri, [])

  defp readable?(catalog, request, conn, uri, without) do
    with {kind, index, variables} <- Protocol.find_resource(catalog, uri, without) do
      case judge(catalog, %{request | kind: kind, index: index, name: uri, arguments: variables}, conn) do
        :ok -> true
        :hidden -> readable?(catalog, request, conn, uri, [{kind, index} | without])
        {:failed, failure} -> unreadable(uri, failure)
        _refused -> false
      end
    else
      :not_found -> false
    end
  end

  defp unreadable(uri, failure) do
    Failure.log(failure, "the permission to hear of #{inspect(uri)}")
    false
  end
end
