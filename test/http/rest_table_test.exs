# Requests for stored results and their responses, row by row, the same for both servers; see `McpServer.RestTable`.
for {name, kind} <- [RestTableListenerTest: :listener, RestTablePlugTest: :plug] do
  defmodule Module.concat(McpServer, name) do
    use ExUnit.Case, async: true

    import McpServer.DualResponses, only: [create!: 3, server: 0]

    alias McpServer.{DualResponse, HttpResponse, JSON, RestServers, RestTable}

    @moduletag :capture_log

    setup_all do
      results = server()
      {:ok, results: results, server: RestServers.start(unquote(kind), results, max_limit: 200)}
    end

    for %{name: name, req: req} <- RestTable.rows() do
      @tag req: req
      test "#{kind}: #{name}", context do
        check(context, RestTable.fetch(unquote(name)))
      end
    end

    @columns [%{name: "n", type: "number"}, %{name: "text", type: "string", sortable: false}]

    defp execute(%{offset: offset, limit: limit, sort: sort}) do
      rows = for n <- 0..249, do: %{"n" => n, "text" => "row #{n}"}
      descending? = match?(%{order: :desc}, List.wrap(sort) |> List.first())
      if(descending?, do: Enum.reverse(rows), else: rows) |> Enum.slice(offset, limit)
    end

    defp check(%{results: results, server: server}, row) do
      created = create!(results, 250, execute: &execute/1, columns: @columns)
      target = String.replace(row.target, ":id", created.resource_id)
      response = RestServers.ask(server, row.method, target, headers: row.headers, body: row.body)

      assert response.status == row.status, inspect(response)
      for {name, value} <- row.answered, do: assert({name, HttpResponse.header(response, name)} == {name, value})
      check_head(response)
      check_body(row.answer, response.body, created)
      check_use(row, DualResponse.get_resource(results, created.resource_id))
    end

    # R7, for every response.
    defp check_head(response) do
      assert HttpResponse.header(response, "cache-control") == "private, no-store"
      assert HttpResponse.header(response, "content-disposition") == "attachment"
      assert HttpResponse.header(response, "x-content-type-options") == "nosniff"
      names = for {name, _value} <- response.headers, do: name
      refute Enum.any?(names, &String.starts_with?(&1, "access-control-"))
    end

    defp check_body(text, body, _created) when is_binary(text), do: assert(body == text)

    defp check_body({:error, code}, body, _created),
      do: assert(%{"error" => ^code, "message" => _} = JSON.decode!(body))

    defp check_body(:metadata, body, created) do
      times = {DateTime.to_iso8601(created.created_at), DateTime.to_iso8601(created.expires_at)}
      {created_at, expires_at} = times
      assert created_at =~ ~r/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/

      assert body ==
               ~s({"status":"ready","total_count":250,"columns":[{"name":"n","type":"number"},) <>
                 ~s({"name":"text","sortable":false,"type":"string"}],"created_at":"#{created_at}",) <>
                 ~s("expires_at":"#{expires_at}","access_count":0})
    end

    defp check_body(%{} = page, body, _created) do
      answer = JSON.decode!(body)
      assert Map.update!(answer, "data", &for(%{"n" => n} <- &1, do: n)) == page
      keys = ~w(data total_count returned_count offset has_next next_offset)
      places = for key <- keys, do: body |> :binary.match(~s("#{key}":)) |> elem(0)
      assert places == Enum.sort(places)
    end

    # S1-43: only pages count as access; a refused request changes nothing.
    defp check_use(%{method: "DELETE", status: 204}, resource), do: assert(resource == nil)

    defp check_use(row, resource) do
      assert resource.access_count == if(row.method == "POST" and row.status == 200, do: 1, else: 0)
      assert resource.expires_at == nil == (row.method == "PUT" and row.status == 200)
    end
  end
end
