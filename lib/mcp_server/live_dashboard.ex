defmodule McpServer.LiveDashboard do
  @moduledoc """
  A page of Phoenix LiveDashboard: current usage of the node, answers of the core, and the catalogue of each router with
  its lint findings.

      live_dashboard "/dashboard",
        metrics: MyAppWeb.Telemetry,
        additional_pages: [mcp: {McpServer.LiveDashboard, routers: [MyApp.MCP], stored_results: [MyApp.Results]}]

    * `:routers` – the routers to show, one or more
    * `:stored_results` – names of `McpServer.DualResponse` servers, default none

  The page needs the package `phoenix_live_dashboard`. It shows the selected node, which must run the same version of
  the library. It shows no data of clients.
  """

  alias McpServer.{Catalog, DualResponse, Lint}
  alias McpServer.DualResponse.Storage
  alias McpServer.Telemetry.Usage

  @compile {:no_warn_undefined, Phoenix.Component}

  @remote_ms 5_000
  @options [routers: [], stored_results: []]

  # Defined by hand like `use Phoenix.LiveDashboard.PageBuilder`, so that the library compiles without that package.
  @doc false
  @spec __page_live__(:refresher?) :: true
  def __page_live__(:refresher?), do: true

  @doc false
  @spec init(keyword()) :: {:ok, map()}
  def init(options) do
    options = options |> Keyword.validate!(@options) |> Map.new()

    if not names?(options.routers) or options.routers == [] or not names?(options.stored_results) do
      raise ArgumentError,
            "McpServer.LiveDashboard takes routers: a list of router modules, and stored_results: a list of names. " <>
              "Write additional_pages: [mcp: {McpServer.LiveDashboard, routers: [MyApp.MCP]}]"
    end

    {:ok, options}
  end

  defp names?(list), do: is_list(list) and Enum.all?(list, &is_atom/1)

  @doc false
  @spec menu_link(map(), map()) :: {:ok, String.t()}
  def menu_link(_session, _capabilities), do: {:ok, "MCP"}

  @doc false
  @spec mount(map(), map(), socket) :: {:ok, socket} when socket: term()
  def mount(_params, session, socket), do: {:ok, Phoenix.Component.assign(socket, :mcp_options, session)}

  @doc false
  @spec render(map()) :: {:safe, iodata()}
  def render(%{mcp_options: options, page: %{node: node}}) do
    {:safe, node |> snapshot(options) |> page()}
  end

  defp snapshot(node, options) do
    :erpc.call(node, __MODULE__, :snapshot, [options], @remote_ms)
  catch
    _kind, _reason -> :unreachable
  end

  @doc false
  @spec snapshot(map()) :: map()
  def snapshot(options) do
    %{
      usage: Usage.usage(),
      core: McpServer.Protocol.answered_alone(),
      routers: Enum.map(options.routers, &router/1),
      stored: Enum.map(options.stored_results, &stored/1)
    }
  end

  defp router(router) do
    catalog = Catalog.fetch(router)
    findings = Enum.group_by(Lint.run(router), & &1.name)

    entries =
      for {kind, entries} <- [
            {"tool", catalog.tools},
            {"prompt", catalog.prompts},
            {"resource", catalog.resources},
            {"template", catalog.templates}
          ],
          %{name: name} <- Tuple.to_list(entries),
          do: {kind, name, for(finding <- Map.get(findings, name, []), do: {finding.severity, finding.message})}

    {inspect(router), entries}
  rescue
    error -> {inspect(router), Exception.message(error)}
  end

  defp stored(server) do
    with {:ok, settings} <- DualResponse.settings(server), {:ok, size} <- Storage.size(settings) do
      {inspect(server), size}
    else
      {:error, _reason} -> {inspect(server), nil}
    end
  end

  defp page(:unreachable), do: "<p>This node does not answer, or does not run this version of mcp_server.</p>"

  defp page(%{usage: usage, core: core, routers: routers, stored: stored}) do
    [
      table(
        "In use",
        ["", "now"],
        for({name, count} <- Enum.sort(usage), do: [to_string(name), Integer.to_string(count)])
      ),
      table(
        "Answered by the core alone",
        ["", "since start"],
        for({name, count} <- Enum.sort(core), do: [to_string(name), Integer.to_string(count)])
      ),
      if(stored != [],
        do: table("Stored results", ["server", "results", "bytes"], Enum.map(stored, &stored_row/1)),
        else: []
      ),
      Enum.map(routers, &router_table/1)
    ]
  end

  defp stored_row({name, nil}), do: [name, "not running", ""]
  defp stored_row({name, size}), do: [name, Integer.to_string(size.resources), Integer.to_string(size.bytes)]

  defp router_table({name, message}) when is_binary(message), do: table(name, ["problem"], [[message]])

  defp router_table({name, entries}) do
    rows = for {kind, entry, findings} <- entries, do: [kind, entry, Enum.map_join(findings, "; ", &finding/1)]
    table(name, ["kind", "name", "lint"], rows)
  end

  defp finding({severity, message}), do: "#{severity}: #{message}"

  # Has the classes of LiveDashboard's pages.
  defp table(title, head, rows) do
    [
      ~s(<h5 class="card-title">),
      escape(title),
      ~s(</h5><div class="card mb-4 mt-4"><div class="card-body p-0"><div class="dash-table-wrapper">),
      ~s(<table class="table table-hover mt-0 dash-table"><thead><tr>),
      for(cell <- head, do: [~s(<th scope="col">), escape(cell), "</th>"]),
      "</tr></thead><tbody>",
      for(row <- rows, do: ["<tr>", for(cell <- row, do: ["<td>", escape(cell), "</td>"]), "</tr>"]),
      "</tbody></table></div></div></div>"
    ]
  end

  defp escape(text), do: for(<<byte <- text>>, do: escaped(byte))

  defp escaped(?<), do: "&lt;"
  defp escaped(?>), do: "&gt;"
  defp escaped(?&), do: "&amp;"
  defp escaped(?"), do: "&quot;"
  defp escaped(byte), do: byte
end
