defmodule McpServer.Auth.Cache do
  @moduledoc false
  # Caches the grants of verified tokens by the SHA-256 digest of the token. It never stores tokens or refusals. The
  # core's guard decides whether an entry is valid, while a request is read. An entry ends with its token, after five
  # minutes, or when the keys of its issuer change.

  alias McpServer.{Auth, Recipient}
  alias McpServer.Auth.Plan
  alias McpServer.Protocol.Auth, as: Rules

  @table __MODULE__
  @most_seconds 300

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true, write_concurrency: true])
    :ok
  end

  @doc "The grants of the token with this digest, if its entry is valid now."
  @spec fetch(Plan.t(), digest :: binary(), now :: integer()) :: {:ok, Auth.t()} | :error
  def fetch(plan, digest, now) do
    case Rules.known(plan.guard, digest, now) do
      nil -> :error
      _known -> grant(plan, digest)
    end
  end

  @doc "The grants of a token that the guard knows. `:error` if the entry was dropped meanwhile."
  @spec grant(Plan.t(), digest :: binary()) :: {:ok, Auth.t()} | :error
  def grant(plan, digest) do
    case :ets.lookup(@table, {plan.id, digest}) do
      [{_key, auth}] -> {:ok, auth}
      [] -> :error
    end
  end

  @doc """
  Caches the grants of a token, for at most `seconds`. `keys` are the keys that verified it, if any. `sufficient?` tells
  whether the token's scopes suffice for the endpoint.
  """
  @spec put(Plan.t(), digest :: binary(), Auth.t(), keyword()) :: :ok
  def put(%{cache: false}, _digest, _auth, _options), do: :ok

  def put(plan, digest, auth, options) do
    now = Keyword.fetch!(options, :now)
    ends = (auth.expires_at || now + @most_seconds) + plan.leeway
    until = min(ends, now + min(Keyword.get(options, :seconds, @most_seconds), @most_seconds))
    if until > now, do: remember(plan, digest, auth, {until, options[:sufficient?], options[:keys]}, now)
    :ok
  end

  # The guard chooses the entries to drop. It may already have dropped this one before its grants are stored.
  defp remember(plan, digest, auth, verified, now) do
    pushed_out = Rules.remember(plan.guard, digest, verified, holder(auth))
    for one <- pushed_out, do: :ets.delete(@table, {plan.id, one})
    :ets.insert(@table, {{plan.id, digest}, auth})
    if Rules.known(plan.guard, digest, now) == nil, do: :ets.delete(@table, {plan.id, digest})
  end

  # A client with many tokens displaces only its own.
  defp holder(auth), do: :erlang.phash2(Auth.holder(auth), 0x1_0000_0000)

  @doc "Drops the entries of a recipient's tokens: each token is verified again."
  @spec forget(Recipient.t()) :: :ok
  def forget(recipient) do
    :ets.update_counter(@table, :forgotten, 1, {:forgotten, 0})

    for [key, principal] <- :ets.match(@table, {:"$1", %{__struct__: Auth, principal: :"$2"}}),
        Recipient.concerns?(recipient, principal, nil),
        do: :ets.delete(@table, key)

    :ok
  end

  @doc "Verifies a token. If entries were dropped in the meantime, the token gets no entry."
  @spec verifying(Plan.t(), digest :: binary(), (() -> verdict)) :: verdict when verdict: term()
  def verifying(plan, digest, verify) do
    before = forgotten()
    verdict = verify.()
    if forgotten() != before, do: :ets.delete(@table, {plan.id, digest})
    verdict
  end

  @doc "A term that `forget/1` changes."
  @spec forgotten() :: term()
  def forgotten, do: :ets.lookup(@table, :forgotten)

  @doc "Drops all entries of a plan."
  @spec clear(Plan.t()) :: :ok
  def clear(plan) do
    Rules.forget(plan.guard)
    :ets.match_delete(@table, {{plan.id, :_}, :_})
    :ok
  end
end
