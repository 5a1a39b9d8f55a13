defmodule McpServer.Dispatch.RunTimeTool do
  @moduledoc false
  # A call of a tool that the router does not declare: one that was put while the server runs, or none. A tool is a
  # catalogue of its own, so that the rest of the call is that of a declared one.

  alias McpServer.{Catalog, Conn, Protocol, Recipient, Request}
  alias McpServer.Tools.{Compiled, Server}

  @doc """
  The catalogue of the tool, and the request as one of it.

  `{:answered, answer}` is that of the core to arguments that do not fit, or to what it has refused before; `:hidden`
  says that there is no such tool for this client.
  """
  @spec find(Catalog.t(), Request.t(), Conn.t()) ::
          {:ok, Catalog.t(), Request.t()} | {:answered, Request.answer()} | :hidden
  def find(catalog, %Request{name: name} = request, conn) do
    recipients = Recipient.all(conn.principal, conn.session_id)

    with {:ok, entry} <- first(recipients, catalog.router, name),
         {:ok, own} <- Compiled.fetch(catalog, entry),
         do: admit(own, request)
  end

  defp first([], _router, _name), do: :hidden

  defp first([recipient | wider], router, name) do
    with :error <- Server.find({router, recipient, name}), do: first(wider, router, name)
  end

  defp admit(_own, %Request{refusal: answer}) when answer != nil, do: {:answered, answer}

  defp admit(own, request) do
    case Protocol.run_time_arguments(own, request) do
      {:ok, arguments, repairs} ->
        {:ok, own, %{request | index: 0, arguments: arguments, repairs: repairs, hidden: nil}}

      {:error, answer} ->
        {:answered, answer}
    end
  end

  @doc "What stands behind the declared tools in this client's list: JSON texts, and what tells them from all others."
  @spec listed(Catalog.t(), Conn.t()) :: {[String.t()], version :: binary()}
  def listed(catalog, conn) do
    named =
      for recipient <- Enum.reverse(Recipient.all(conn.principal, conn.session_id)),
          {name, entry} <- Server.entries(catalog.router, recipient),
          do: {name, entry}

    # The narrowest of a name.
    last = Map.new(named)
    entries = for {name, entry} <- named, last[name] == entry, uniq: true, do: entry
    {for(entry <- entries, do: entry.text), :erlang.md5(for(entry <- entries, do: entry.digest))}
  end
end
