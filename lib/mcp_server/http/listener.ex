defmodule McpServer.Http.Listener do
  @moduledoc false
  # The native listener and its exchanges. With the façades the only caller of `McpServer.Native`.

  @behaviour McpServer.Http.Exchange

  alias McpServer.{Catalog, Native}
  alias McpServer.Http.Exchange
  alias McpServer.Protocol.HTTP

  @doc "An exchange of the listener, by the reference it was announced with."
  @spec exchange(reference()) :: Exchange.t()
  def exchange(ref), do: %Exchange{module: __MODULE__, ref: ref}

  @doc """
  Listens until the calling process ends or `stop/1`. The workers are told of requests in turn.

  With `raw?` they see every request before its body is read.
  """
  @spec listen(tuple(), Catalog.t(), HTTP.policy(), boolean(), map()) ::
          {:ok, reference(), :inet.port_number()} | {:error, atom()}
  def listen(workers, %Catalog{ref: catalog}, policy, raw?, options),
    do: Native.http_listen(self(), workers, catalog, policy, raw?, options)

  @doc "Serves a router's new definition from now on."
  @spec put_catalog(reference(), Catalog.t()) :: :ok
  def put_catalog(listener, %Catalog{ref: catalog}), do: Native.http_set_catalog(listener, catalog)

  @doc "Announces requests to these processes from now on."
  @spec put_workers(reference(), tuple()) :: :ok
  def put_workers(listener, workers), do: Native.http_set_workers(listener, workers)

  @doc "Announces requests for stored results to this process from now on."
  @spec put_desk(reference(), pid()) :: :ok
  def put_desk(listener, desk), do: Native.http_set_desk(listener, desk)

  @doc "Accepts nothing more, and ends what is open after at most `grace` milliseconds."
  @spec drain(reference(), non_neg_integer()) :: :ok
  def drain(listener, grace), do: Native.http_drain(listener, grace)

  @doc "Closes everything now."
  @spec stop(reference()) :: :ok
  def stop(listener), do: Native.http_stop(listener)

  @doc "What the listener has counted."
  @spec stats(reference()) :: %{atom() => non_neg_integer()}
  def stats(listener), do: Native.http_stats(listener)

  @doc "Reads the body of a request that was announced without it."
  @spec read_body(Exchange.t()) :: {:ok, binary()} | {:error, pos_integer()}
  def read_body(%Exchange{ref: ref}) do
    Native.http_read_body(ref)

    receive do
      {:mcp_http_body, ^ref, result} -> result
    end
  end

  @impl true
  def own(%Exchange{ref: ref} = exchange) do
    with :ok <- Native.http_own(ref), do: {:ok, exchange}
  end

  @impl true
  def give(%Exchange{ref: ref}, pid), do: Native.http_give(ref, pid)

  @impl true
  def reply(%Exchange{ref: ref}, status, headers, body), do: Native.http_reply(ref, status, headers, body)

  @impl true
  def stream(%Exchange{ref: ref}, status, headers, first), do: Native.http_stream(ref, status, headers, first)

  @impl true
  def chunk(%Exchange{ref: ref}, bytes), do: Native.http_chunk(ref, bytes)

  @impl true
  def finish(%Exchange{ref: ref}), do: Native.http_finish(ref)

  @impl true
  def abort(%Exchange{ref: ref}), do: Native.http_abort(ref)
end
