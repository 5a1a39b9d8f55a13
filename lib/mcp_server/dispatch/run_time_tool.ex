defmodule McpServer.Dispatch.RunTimeTool do
  @moduledoc false
  # A call of a tool that the router does not declare. The tool was added at run time, or does not exist. Each run-time
  # tool has a catalogue, so that its calls continue like those of declared tools.

  alias McpServer.{Access, Catalog, Conn, JSON, Protocol, Recipient, Request, Secret}
  alias McpServer.Dispatch.Permission
  alias McpServer.Tools.{Compiled, Guarded, Server}

  @doc """
  Adds the run-time tool to the request, if the router does not declare the tool. The tool has the timeout of the call.
  If there is no such tool, one that stands in for it may have the timeout.
  """
  @spec locate(Catalog.t(), Request.t(), Conn.t()) :: Request.t()
  # A client without a token has only the public tools that the router declares, which the core has looked for.
  def locate(_catalog, %Request{hidden: {401, _challenge}} = request, _conn), do: request

  def locate(%Catalog{run_time_tools?: true} = catalog, %Request{kind: :tool, index: nil} = request, conn) do
    recipients = Recipient.all(conn.principal, conn.session_id)

    case first(recipients, catalog.router, request.name) do
      {:ok, recipient, entry} -> %{request | run_time: Map.put(entry, :whose, recipient)}
      :hidden -> %{request | stand_in: choice(request, catalog.router, recipients)}
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

  # Declared tools stand in for half of the names, and the same name always has the same one, so that repetition does not
  # tell it from a hidden tool.
  defp choice(%Request{stand_in: declared, name: name}, router, recipients) do
    <<coin, _rest::binary>> = :crypto.mac(:hmac, :sha256, Secret.stand_in_key(), name)
    if declared != nil and rem(coin, 2) == 0, do: declared, else: Guarded.stand_in(router, recipients, name) || declared
  end

  @doc """
  The catalogue of the located tool, and the request for this catalogue.

  The returned request contains the refusal if the core refused it. `:hidden` means that this client has no such tool.
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

  @doc """
  What stands in for an unknown name: a declared entry, or a tool of the run time, with its catalogue. A tool of the run
  time judges the arguments, as a hidden one does; its judgement is dropped.
  """
  @spec stand_in(Catalog.t(), Request.t()) :: {Catalog.t(), Request.t()}
  def stand_in(catalog, %Request{stand_in: %{} = entry} = request) do
    case admit(catalog, %{request | run_time: entry}) do
      {:ok, own, alike} -> {own, alike}
      :hidden -> {catalog, request}
    end
  end

  def stand_in(catalog, %Request{stand_in: index} = request), do: {catalog, %{request | index: index}}

  @doc "The catalogue of a task's tool. `:hidden` if the tool has been deleted meanwhile."
  @spec of_task(Catalog.t(), map()) :: {:ok, Catalog.t()} | :hidden
  def of_task(catalog, %{whose: whose, name: name} = entry) do
    case Server.find({catalog.router, whose, {:tool, name}}) do
      {:ok, _as_it_is_now} -> Compiled.fetch(catalog, entry)
      :error -> :hidden
    end
  end

  @doc "The run-time tools of this client's list, after the declared ones: their JSON texts and a version."
  @spec listed(Catalog.t(), Conn.t()) :: {[String.t()], version :: binary()}
  def listed(catalog, conn) do
    entries = shown(catalog, conn)
    {for(entry <- entries, do: entry.text), :erlang.md5(for(entry <- entries, do: entry.digest))}
  end

  @doc "The run-time tools of this client's list, as structs."
  @spec structs(Catalog.t(), Conn.t()) :: [McpServer.Tool.t()]
  def structs(%Catalog{run_time_tools?: false}, _conn), do: []

  def structs(catalog, conn),
    do: for(%{text: text} <- shown(catalog, conn), do: text |> JSON.decode!() |> McpServer.Tool.new())

  defp shown(catalog, conn) do
    named =
      for recipient <- Enum.reverse(Recipient.all(conn.principal, conn.session_id)),
          {name, entry} <- Server.entries(catalog.router, recipient),
          do: {name, entry}

    # The entry with the narrowest recipient of each name.
    last = Map.new(named)
    entries = for {name, entry} <- named, last[name] == entry, uniq: true, do: entry
    Permission.shown(for(entry <- entries, do: {entry, Access.resolve_entry(entry.entry)}), conn)
  end
end
