defmodule McpServer.Dispatch.Around do
  @moduledoc false
  # The plugs around a handler. The compiled router knows which entries have plugs, so an entry without plugs has no
  # overhead.

  alias McpServer.{Catalog, Conn, Protocol, Request}
  alias McpServer.Dispatch.Handler

  @completions [:complete_prompt, :complete_resource]
  @maker {__MODULE__, :maker}

  @typedoc "The called entry (`nil` for a list), and the function that replaces its handler."
  @type call :: %{
          required(:catalog) => Catalog.t(),
          required(:request) => Request.t(),
          required(:entry) => map() | nil,
          required(:handler) => (Conn.t() -> term()) | nil,
          optional(atom()) => term()
        }

  @doc "Calls the handler of a call, with the plugs around it."
  @spec run(call(), Conn.t()) :: term()
  def run(%{handler: handler}, conn) when handler != nil, do: handler.(conn)

  def run(%{catalog: catalog, entry: %{plugs: plugs, name: name} = entry, request: request}, conn),
    do: start(plugs, called(request, name), conn, &Handler.invoke(catalog, entry, request, &1))

  def run(%{catalog: catalog, entry: entry, request: request}, conn), do: Handler.invoke(catalog, entry, request, conn)

  @doc """
  The plug that made the result of the last `run/2` in this process, which was for the request. `nil` if the handler
  made it.
  """
  @spec maker(Catalog.t(), Request.t()) :: module() | nil
  def maker(catalog, request) do
    case Handler.entry(catalog, request) do
      %{plugs: _plugs} -> Process.get(@maker)
      _nothing_around -> nil
    end
  end

  # A task runs with the same plugs around it, in the task's process.
  defp start(plugs, called, conn, handler) do
    case pass(plugs, called, conn, handler) do
      {:task, fun} when is_function(fun, 1) -> {:task, &pass(plugs, %{called | kind: :task}, &1, fun)}
      returned -> returned
    end
  end

  defp pass([], _called, conn, handler), do: made(handler.(%{conn | called: nil}), nil)

  defp pass([{id, plug, arity, options} | inner], called, conn, handler) do
    conn = %{conn | called: %{called | plug: id}}
    key = make_ref()

    next = fn conn ->
      returned = pass(inner, called, conn!(conn, plug), handler)
      Process.put(key, {returned, Process.get(@maker)})
      returned
    end

    {returned, of_next} =
      call(fn -> if arity == 2, do: plug.call(conn, next), else: plug.call(conn, next, options) end, key)

    made(returned, maker_of(returned, of_next, plug))
  end

  # The caller's process may outlive a plug that raises.
  defp call(plug, key) do
    returned = plug.()
    {returned, Process.get(key)}
  after
    Process.delete(key)
  end

  # A plug that returns what `next` returned has not made it.
  defp maker_of(returned, {returned, maker}, _plug), do: maker
  # It may only have changed the state, as `McpServer.RateLimit` does.
  defp maker_of({:input_required, inputs, _state}, {{:input_required, inputs, _before}, maker}, _plug), do: maker
  defp maker_of(_returned, _of_next, plug), do: plug

  defp made(returned, maker) do
    Process.put(@maker, maker)
    returned
  end

  defp conn!(%Conn{} = conn, _plug), do: conn
  defp conn!(_other, plug), do: raise(ArgumentError, "plug #{inspect(plug)} called next without a McpServer.Conn")

  @doc "The called entry, as plugs see it in their conn."
  @spec called(Request.t(), String.t() | nil) :: map()
  def called(%Request{kind: kind, arguments: arguments} = request, name) do
    %{kind: kind(kind), name: name, uri: uri(request), arguments: arguments, plug: nil}
  end

  defp kind(kind) when kind in @completions, do: :completion
  defp kind(:resource_template), do: :resource
  defp kind(kind), do: kind

  defp uri(%Request{kind: kind, name: uri}) when kind in [:resource, :resource_template],
    do: Protocol.normal_uri(uri)

  defp uri(_request), do: nil
end
