defmodule McpServer.Playground.Page do
  @moduledoc false
  # Serves the files of the playground's page, the sandbox of views, and the page's own requests. The files of the
  # folder `page` are embedded at compile time, without a build step.

  @behaviour McpServer.Http.Route

  alias McpServer.App.CSP
  alias McpServer.Http.Sink
  alias McpServer.{JSON, Lint}
  alias McpServer.Protocol.HTTP

  @folder Path.join(__DIR__, "page")
  @types %{".html" => "text/html", ".css" => "text/css", ".js" => "text/javascript"}
  @files (for file <- @folder |> Path.join("*") |> Path.wildcard(), into: %{} do
            @external_resource file
            {Path.basename(file), {@types[Path.extname(file)] <> "; charset=utf-8", File.read!(file)}}
          end)

  @max_body_bytes 16 * 1024

  # The page never turns texts into markup. `require-trusted-types-for` makes the browser enforce it.
  @policy Enum.join(
            [
              "default-src 'none'",
              "script-src 'self'",
              "style-src 'self'",
              "img-src 'self' data:",
              "media-src data:",
              "connect-src 'self'",
              "frame-src 'self'",
              "base-uri 'none'",
              "form-action 'none'",
              "frame-ancestors 'none'",
              "require-trusted-types-for 'script'",
              "trusted-types 'none'"
            ],
            "; "
          )

  @headers [
    {"cache-control", "no-store"},
    {"x-content-type-options", "nosniff"},
    {"referrer-policy", "no-referrer"},
    {"cross-origin-resource-policy", "same-origin"},
    {"cross-origin-opener-policy", "same-origin"}
  ]

  @doc "The page's files: name, type and bytes."
  @spec files() :: %{String.t() => {String.t(), binary()}}
  def files, do: @files

  @impl true
  def init(options, site) do
    policy = Map.take(site, [:allowed_hosts, :allowed_origins]) |> Map.merge(%{path: nil})
    {:ok, policy} = HTTP.policy(policy)
    options |> Map.new() |> Map.merge(%{policy: policy, path: site.path})
  end

  # This route needs no process.
  @impl true
  def child_spec(_state), do: %{id: __MODULE__, start: {Function, :identity, [:ignore]}}

  @impl true
  def call(sink, state) do
    %{method: method, target: target} = head = Sink.head(sink)

    case check_site(state.policy, head) do
      {:ok, _accepted, _context} ->
        uri = URI.parse(target)
        serve(sink, method, below(uri.path, state.path), uri.query, Map.put(state, :mounted, mounted(head)))

      {:answer, status, headers, body} ->
        Sink.reply(sink, status, headers, body)
    end
  end

  # Host and Origin are checked as in requests with messages. The other headers are fixed.
  defp check_site(policy, head) do
    named = for {name, value} <- head.headers, String.downcase(name) in ["host", "origin"], do: {name, value}
    message = [{"content-type", "application/json"}, {"accept", "application/json, text/event-stream"}]
    HTTP.check_head(policy, %{head | method: "POST", target: "/", headers: named ++ message})
  end

  defp below(path, prefix), do: path |> String.replace_prefix(prefix, "") |> String.split("/")

  # The path at which the web server mounts the plug.
  defp mounted(%{plug: %{script_name: segments}}), do: Enum.map_join(segments, &"/#{&1}")
  defp mounted(_own_server), do: ""

  # Files refer to each other by relative names, and not every web server passes on a trailing slash.
  defp serve(sink, "GET", empty, _query, state) when empty in [[""], ["", ""]],
    do: reply(sink, 308, [{"location", "#{state.mounted}#{state.path}/index.html"}], "")

  defp serve(sink, "GET", ["", "view.html"], query, _state), do: view(sink, query)
  defp serve(sink, "GET", ["", name], _query, _state), do: file(sink, name)

  defp serve(sink, method, ["", token, name], _query, state) do
    if :crypto.hash(:sha256, token) == :crypto.hash(:sha256, state.token),
      do: known(sink, method, name, state),
      else: reply(sink, 403, [], "")
  end

  defp serve(sink, _method, _path, _query, _state), do: reply(sink, 404, [], "")

  defp file(sink, name) do
    case @files do
      %{^name => {type, bytes}} ->
        reply(sink, 200, [{"content-type", type}, {"content-security-policy", @policy}], bytes)

      _none ->
        reply(sink, 404, [], "")
    end
  end

  # The page that embeds the frame sends the view's declared policy in the query. It can only make the document's policy
  # stricter.
  defp view(sink, query) do
    with %{"csp" => text} <- URI.decode_query(query || ""),
         {:ok, declared} when is_map(declared) or declared == nil <- JSON.decode(text),
         :ok <- CSP.validate(declared) do
      {type, bytes} = Map.fetch!(@files, "view.html")
      policy = CSP.generate(declared, sandbox: true) <> "; sandbox allow-scripts; frame-ancestors 'self'"
      reply(sink, 200, [{"content-type", type}, {"content-security-policy", policy}], bytes)
    else
      {:error, reason} when is_binary(reason) -> reply(sink, 400, [], reason)
      _none -> reply(sink, 400, [], "expected csp to be a JSON object or null")
    end
  end

  defp known(sink, "GET", "about", state) do
    json(sink, %{
      "router" => inspect(state.router),
      "mints" => state.mint != nil,
      "rows" => state.rows,
      "lint" => for(finding <- Lint.run(state.router), do: described(finding))
    })
  end

  # Mints tokens of the test issuer, for servers that require them.
  defp known(sink, "POST", "token", %{mint: mint}) when mint != nil do
    case Sink.read_body(sink, @max_body_bytes) do
      {:ok, body, sink} -> minted(sink, JSON.decode(body), mint)
      {:error, :closed, sink} -> sink
      {:error, _reason, sink} -> reply(sink, 400, [], "expected a body of at most #{@max_body_bytes} bytes")
    end
  end

  defp known(sink, _method, _name, _state), do: reply(sink, 404, [], "")

  defp minted(sink, {:ok, %{"subject" => subject, "scopes" => scopes}}, mint)
       when is_binary(subject) and is_binary(scopes),
       do: json(sink, %{"token" => mint.(%{subject: subject, scopes: String.split(scopes)})})

  defp minted(sink, _wrong, _mint), do: reply(sink, 400, [], "expected an object with subject and scopes, both strings")

  defp described(finding) do
    for name <- [:severity, :code, :kind, :name, :pointer, :message, :advice, :file, :line],
        into: %{},
        do: {Atom.to_string(name), Map.fetch!(finding, name)}
  end

  defp json(sink, value), do: reply(sink, 200, [{"content-type", "application/json"}], JSON.encode!(value))

  defp reply(sink, status, headers, body), do: Sink.reply(sink, status, headers ++ @headers, body)
end
