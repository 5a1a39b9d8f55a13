defmodule McpServer.Dispatch.RunTimeTool do
  @moduledoc false
  # A call of a tool that the router does not declare: one that was put while the server runs, or none. A tool is a
  # catalogue of its own, so that the rest of the call is that of a declared one.

  alias McpServer.{Access, Catalog, Conn, JSON, Protocol, Recipient, Request}
  alias McpServer.Dispatch.Permission
  alias McpServer.Tools.{Compiled, Server}

  @doc """
  The request of a call with the tool that it means, if the router does not declare it: how long it may run is said there.
  """
  @spec locate(Catalog.t(), Request.t(), Conn.t()) :: Request.t()
  def locate(%Catalog{run_time_tools?: true} = catalog, %Request{kind: :tool, index: nil} = request, conn) do
    case first(Recipient.all(conn.principal, conn.session_id), catalog.router, request.name) do
      {:ok, recipient, entry} -> %{request | run_time: Map.put(entry, :whose, recipient)}
      :hidden -> request
    end
  end

  def locate(_catalog, request, _conn), do: request

  defp first([], _router, _name), do: :hidden

  defp first([recipient | wider], router, name) do
    case Server.find({router, recipient, {:tool, name}}) do
      {:ok, entry} -> {:ok, recipient, entry}
      :error -> first(wider, router, name)
    end
  end

  @doc """
  The catalogue of the tool that was located, and the request as one of it.

  A request that the core has refused, because of what it is or for its arguments, says so; `:hidden` says that there is
  no such tool for this client.
  """
  @spec admit(Catalog.t(), Request.t()) :: {:ok, Catalog.t(), Request.t()} | :hidden
  def admit(_catalog, %Request{run_time: nil}), do: :hidden

  def admit(catalog, %Request{run_time: entry} = request) do
    with {:ok, own} <- Compiled.fetch(catalog, entry), do: {:ok, own, judged(own, %{request | index: 0})}
  end

  defp judged(_own, %Request{refusal: answer} = request) when answer != nil, do: request

  defp judged(own, request) do
    case Protocol.run_time_arguments(own, request) do
      {:ok, arguments, repairs, task} -> %{request | arguments: arguments, repairs: repairs, task: task}
      {:error, answer} -> %{request | refusal: answer}
    end
  end

  @doc "The catalogue of the tool of a task; `:hidden` where it has been deleted since."
  @spec of_task(Catalog.t(), map()) :: {:ok, Catalog.t()} | :hidden
  def of_task(catalog, %{whose: whose, name: name} = entry) do
    case Server.find({catalog.router, whose, {:tool, name}}) do
      {:ok, _as_it_is_now} -> Compiled.fetch(catalog, entry)
      :error -> :hidden
    end
  end

  @doc "What stands behind the declared tools in this client's list: JSON texts, and what tells them from all others."
  @spec listed(Catalog.t(), Conn.t()) :: {[String.t()], version :: binary()}
  def listed(catalog, conn) do
    entries = shown(catalog, conn)
    {for(entry <- entries, do: entry.text), :erlang.md5(for(entry <- entries, do: entry.digest))}
  end

  @doc "The same tools as structs."
  @spec structs(Catalog.t(), Conn.t()) :: [McpServer.Tool.t()]
  def structs(%Catalog{run_time_tools?: false}, _conn), do: []

  def structs(catalog, conn),
    do: for(%{text: text} <- shown(catalog, conn), do: text |> JSON.decode!() |> McpServer.Tool.new())

  defp shown(catalog, conn) do
    named =
      for recipient <- Enum.reverse(Recipient.all(conn.principal, conn.session_id)),
          {name, entry} <- Server.entries(catalog.router, recipient),
          do: {name, entry}

    # The narrowest of a name.
    last = Map.new(named)
    entries = for {name, entry} <- named, last[name] == entry, uniq: true, do: entry
    Permission.shown(for(entry <- entries, do: {entry, Access.resolve_entry(entry.entry)}), conn)
  end
end
