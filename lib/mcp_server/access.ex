defmodule McpServer.Access do
  @moduledoc false
  # Decides who may see an entry of a router, and who may use it, with the functions of `authorize:`, `visible:` and
  # `scopes:`. User code runs in the process of a call.

  alias McpServer.{Conn, Outline}

  @typedoc """
  A function that a router names: module, name, extra arguments after the usual ones, and the arities of which one must
  exist.
  """
  @type hook :: {module(), atom(), [term()], [arity()]}

  @type declared :: %{
          required(:listed) => :granted | :always,
          optional(:tags) => hook(),
          optional(:authorize) => hook(),
          optional(:visible) => hook(),
          optional(:scopes) => hook(),
          optional(:hidden_scopes) => hook(),
          optional(:public?) => true,
          optional(:outer) => declared()
        }

  @typedoc "An existing function. It is called with the conn, or with the conn and the arguments."
  @type decider :: {:conn | :arguments, module(), atom(), [term()]}

  @typedoc """
  * `:rule` – the functions that decide whether the entry is visible; they take only the conn
  * `:checks` – the functions that are called when the entry is used
  """
  @type t :: %{rule: rule() | nil, checks: rule()}

  @typedoc "Entries with the same rule are visible to the same clients."
  @type rule :: [{:visible | :scopes | :authorize, decider()}]

  @type verdict ::
          :ok
          | {:refused, :forbidden | String.t() | {:insufficient_scope, [String.t()]}}
          | {:invalid, String.t()}

  # The functions around the declaration come first.
  defp resolve(%{outer: outer} = declared) do
    [outer, own] = Enum.map([outer, Map.delete(declared, :outer)], &resolve/1)
    rule = if outer.rule || own.rule, do: (outer.rule || []) ++ (own.rule || [])
    %{rule: rule, checks: outer.checks ++ own.checks}
  end

  defp resolve(%{listed: listed} = declared) do
    keys = [visible: :tags, visible: :visible, visible: :hidden_scopes, scopes: :scopes, authorize: :authorize]
    deciders = for {key, name} <- keys, hook = declared[name], do: {key, decider(hook)}

    {rule, checks} =
      Enum.split_with(deciders, fn {key, {called_with, _, _, _}} ->
        called_with == :conn and (key == :visible or listed == :granted)
      end)

    # An entry that its arguments may hide needs a rule too, so that the core prepares both answers. An empty rule
    # allows all clients.
    %{rule: if(rule != [] or List.keymember?(checks, :visible, 0), do: rule), checks: checks}
  end

  @doc "Resolves the access rules of an entry, if it has any."
  @spec resolve_entry(map()) :: map()
  def resolve_entry(%{access: declared} = entry), do: %{entry | access: resolve(declared)}
  def resolve_entry(entry), do: entry

  defp decider({module, function, more, arities}) do
    called_with = if arity({module, function, arities}) == 2 + length(more), do: :arguments, else: :conn
    {called_with, module, function, more}
  end

  @doc "The functions that entries of a router name, each once, with their possible arities."
  @spec named([map()]) :: [{module(), atom(), [arity()]}]
  def named(entries), do: entries |> Enum.flat_map(&hooks(&1[:access])) |> Enum.uniq()

  defp hooks(nil), do: []

  defp hooks(%{} = declared) do
    own = for {_key, {module, function, _more, arities}} <- declared, do: {module, function, arities}
    own ++ hooks(declared[:outer])
  end

  @doc "The arity of a named function, `nil` if it does not exist. The compiler refuses one with both arities."
  @spec arity({module(), atom(), [arity()]}) :: arity() | nil
  def arity({module, function, arities}) do
    Code.ensure_loaded(module)
    arities |> Enum.filter(&function_exported?(module, function, &1)) |> Enum.max(fn -> nil end)
  end

  @doc "Calls a function. The caller must catch its exceptions."
  @spec ask(decider(), Conn.t(), map()) :: verdict()
  def ask({:conn, module, function, more} = decider, conn, _arguments),
    do: verdict(apply(module, function, [conn | more]), decider)

  def ask({:arguments, module, function, more} = decider, conn, arguments),
    do: verdict(apply(module, function, [conn, arguments | more]), decider)

  defp verdict(returned, _decider) when returned in [true, :ok], do: :ok
  defp verdict({:ok, _anything}, _decider), do: :ok

  # `scope && scope.admin?` is `nil` for nobody.
  defp verdict(returned, _decider) when returned in [false, nil, :forbidden, {:error, :forbidden}],
    do: {:refused, :forbidden}

  defp verdict({:error, text} = returned, decider) when is_binary(text),
    do: if(String.valid?(text), do: {:refused, text}, else: invalid(returned, decider))

  defp verdict({:error, {:insufficient_scope, scopes} = refusal} = returned, decider) do
    if is_list(scopes) and not List.improper?(scopes) and Enum.all?(scopes, &is_binary/1),
      do: {:refused, refusal},
      else: invalid(returned, decider)
  end

  defp verdict(returned, decider), do: invalid(returned, decider)

  defp invalid(returned, decider) do
    {:invalid,
     "#{name(decider)} returned #{Outline.of(returned)}. A function of `authorize:` or `visible:` returns true, :ok or " <>
       ~S'{:ok, term} to allow; false, nil, :forbidden, {:error, "text"} or {:error, {:insufficient_scope, ["scope"]}} to refuse.'}
  end

  @doc "The function's name, for the log."
  @spec name(decider()) :: String.t()
  def name({called_with, module, function, more}) do
    own = if called_with == :conn, do: 1, else: 2
    Exception.format_mfa(module, function, own + length(more))
  end
end
