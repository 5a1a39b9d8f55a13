defmodule McpServer.Doctor.Installed do
  @moduledoc false
  # Starts this project's servers from the clients' configuration files, as a client would start them.
  #
  # Other entries are skipped. A file in the project may come from somebody else, with its commands and variables. So
  # only what `mix mcp.install` would write now is started.

  alias McpServer.Doctor.{Finding, Start}
  alias McpServer.Install.{Launch, Place, Table}
  alias McpServer.JSON

  @read [max_bytes: 64 * 1024 * 1024, max_values: 10_000_000]
  # The PATH of a program that was not started from a shell.
  @path "/usr/bin:/bin"

  @doc "The findings about each client's files. `name` is the application's. An entry of this name belongs to it."
  @spec findings(Place.machine(), String.t(), Start.patience()) :: [Finding.t()]
  def findings(machine, name, patience) do
    for client <- Table.all(),
        scope <- [:user, :project],
        {:ok, path} <- [Place.file(client, scope, machine)],
        File.regular?(path),
        finding <- file(client, path, name, {machine, patience}),
        do: finding
  end

  defp file(%{format: :json} = client, path, name, here) do
    case JSON.decode(File.read!(path), @read) do
      {:ok, %{} = content} ->
        for {entry, server} <- ours(content[client.key], name),
            finding <- start(client, entry, server, here),
            do: finding

      _unreadable ->
        unreadable(client, path)
    end
  end

  # Files in other formats are not read.
  defp file(_client, _path, _name, _here), do: []

  defp unreadable(client, path) do
    [
      Finding.warning(
        "#{path} is not JSON, or has comments: the entries of #{client.name} were not looked at",
        "If #{client.name} does not show its servers, put a copy of the file from before in its place (`mix mcp.install` leaves #{path}.bak)."
      )
    ]
  end

  defp ours(%{} = servers, name),
    do: for({entry, %{} = server} <- Enum.sort(servers), entry == name or task?(server), do: {entry, server})

  defp ours(_none, _name), do: []

  defp task?(server), do: Enum.any?(words(server), &String.match?(&1, ~r/\bmcp\.(stdio|bridge)\b/))

  defp words(%{"command" => command} = server),
    do: Enum.filter(List.wrap(command) ++ List.wrap(server["args"]), &is_binary/1)

  defp words(_remote), do: []

  defp start(client, entry, server, {machine, patience}) do
    who = "#{entry} in #{client.name}"
    repair = "Install it again: mix mcp.install #{client.id} ROUTER --name #{Launch.quoted(entry)}"

    case {words(server), url(server)} do
      {[_command | _arguments] = words, _url} ->
        if Launch.made?(words, machine.project, home: machine.home) and server["env"] in [nil, %{}],
          do: Start.findings(who, command(words), [env: [{~c"PATH", to_charlist(@path)}], cd: "/"], repair, patience),
          else: [
            Finding.warning("#{who} was not started, because `mix mcp.install` would not write it so here", repair)
          ]

      {[], url} when is_binary(url) ->
        Start.findings(
          who,
          {:url, url},
          [headers: headers(server)],
          "Start the server at that URL, or install it again.",
          patience
        )

      _neither ->
        [Finding.error("#{who} has neither a command nor a URL", repair)]
    end
  end

  defp command(words), do: {:command, Enum.map_join(words, " ", &Launch.quoted/1)}

  defp url(server), do: server["url"] || server["serverUrl"] || server["httpUrl"]

  defp headers(server),
    do: for({name, value} <- server["headers"] || %{}, is_binary(value), do: {String.downcase(name), value})
end
