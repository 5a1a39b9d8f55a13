defmodule McpServer.Auth.Cache do
  @moduledoc false
  # What tokens grant whose signatures were verified, by the SHA-256 digest of the whole token. Never the token itself,
  # and never a refusal. The core's guard says whether an entry still counts: it ends with its token, after five minutes,
  # and when the keys of its issuer change. It does so while a request is read; what the token grants lies here.

  alias McpServer.Auth
  alias McpServer.Auth.Plan
  alias McpServer.Protocol.Auth, as: Rules

  @table __MODULE__
  @most_seconds 300

  @doc "Makes the table; the calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true, write_concurrency: true])
    :ok
  end

  @doc "What the token of a digest grants, if it counts at this moment."
  @spec fetch(Plan.t(), digest :: binary(), now :: integer()) :: {:ok, Auth.t()} | :error
  def fetch(plan, digest, now) do
    case Rules.known(plan.guard, digest, now) do
      nil -> :error
      _known -> grant(plan, digest)
    end
  end

  @doc "What a token grants that the guard knows; `:error` if it has been forgotten since."
  @spec grant(Plan.t(), digest :: binary()) :: {:ok, Auth.t()} | :error
  def grant(plan, digest) do
    case :ets.lookup(@table, {plan.id, digest}) do
      [{_key, auth}] -> {:ok, auth}
      [] -> :error
    end
  end

  @doc """
  Remembers what a token grants, for at most `seconds`. `keys` are those that verified it, where there are any, and
  `sufficient?` says whether it grants enough for the endpoint.
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

  # The guard chooses what makes room, and may have done so again before the grant lies here.
  defp remember(plan, digest, auth, verified, now) do
    pushed_out = Rules.remember(plan.guard, digest, verified, holder(auth))
    for one <- pushed_out, do: :ets.delete(@table, {plan.id, one})
    :ets.insert(@table, {{plan.id, digest}, auth})
    if Rules.known(plan.guard, digest, now) == nil, do: :ets.delete(@table, {plan.id, digest})
  end

  # Whoever gets many tokens pushes out its own.
  defp holder(auth), do: :erlang.phash2({auth.issuer, auth.subject || auth.client_id}, 0x1_0000_0000)

  @doc "The endpoint that an issuer's metadata has named not long ago."
  @spec fetch_endpoint(term(), now :: integer()) :: {:ok, String.t()} | :error
  def fetch_endpoint(source, now) do
    case :ets.lookup(@table, {:endpoint, source}) do
      [{_key, endpoint, until}] when now < until -> {:ok, endpoint}
      _none_or_old -> :error
    end
  end

  @doc "Remembers it."
  @spec put_endpoint(term(), String.t(), until :: integer()) :: :ok
  def put_endpoint(source, endpoint, until) do
    :ets.insert(@table, {{:endpoint, source}, endpoint, until})
    :ok
  end

  @doc "Forgets everything of a plan."
  @spec clear(Plan.t()) :: :ok
  def clear(plan) do
    Rules.forget(plan.guard)
    :ets.match_delete(@table, {{plan.id, :_}, :_})
    :ok
  end
end
