defmodule McpServer.Router.ResourceBlock do
  @moduledoc """
  The statements inside `resource … do`. Only `read/2` is required.

      resource "user", "https://example.com/users/{id}" do
        description "A user's profile"
        mimeType "application/json"
        read MyApp.Users, :read
        complete MyApp.Users, :complete_id
      end
  """

  alias McpServer.Router.{Handler, Refusal, ResourceDefinition}

  @doc "The description of the resource."
  defmacro description(text), do: put(:description, text, __CALLER__)

  @doc """
  The media type of the content. A `ui://` resource has `text/html;profile=mcp-app`, also by default.
  """
  defmacro mimeType(mime_type), do: put(:mimeType, mime_type, __CALLER__)

  @doc "The same as `mimeType/1`."
  defmacro mime_type(mime_type), do: put(:mimeType, mime_type, __CALLER__)

  @doc "A name for people."
  defmacro title(text), do: put(:title, text, __CALLER__)

  @doc "The size of the content in bytes; not for a URI with variables."
  defmacro size(bytes), do: put(:size, bytes, __CALLER__)

  @doc "A list of `McpServer.Icon`, or of keyword lists of its fields."
  defmacro icons(icons), do: put(:icons, icons, __CALLER__)

  @doc "A `McpServer.Annotations`, or a keyword list of its fields."
  defmacro annotations(annotations), do: put(:annotations, annotations, __CALLER__)

  @doc "Further entries of its `_meta`, a map."
  defmacro meta(meta), do: put(:meta, meta, __CALLER__)

  @doc """
  The origins a `ui://` view may use: `connect_domains:`, `resource_domains:`, `frame_domains:`, `base_uri_domains:`,
  each a list of strings. `McpServer.App.CSP` describes origins and the resulting policy.
  """
  defmacro csp(domains), do: put(:csp, domains, __CALLER__)

  @doc "Permissions of a `ui://` view: `camera:`, `microphone:`, `geolocation:`, `clipboard_write:`, each `true` or `%{}`."
  defmacro permissions(permissions), do: put(:permissions, permissions, __CALLER__)

  @doc "The sandbox origin a host has assigned to a `ui://` view."
  defmacro app_domain(domain), do: put(:app_domain, domain, __CALLER__)

  @doc "Whether the host should draw a border around a `ui://` view."
  defmacro prefers_border(boolean), do: put(:prefers_border, boolean, __CALLER__)

  @doc "Codes of `McpServer.Lint` to ignore for this resource: `lint ignore: [:template_shadowed]`."
  defmacro lint(rules), do: put(:lint, rules, __CALLER__)

  @doc "The function that reads the resource: `fun(conn, variables)`; `variables` is `%{}` for a fixed URI."
  defmacro read(controller, function \\ []),
    do: Handler.declare(ResourceDefinition, :read, controller, function, __CALLER__)

  @doc """
  The function that completes a variable of the URI: `fun(conn, name, prefix)`. With `arguments: :atoms` the name is an
  atom.

  A server without any `complete` does not advertise `completions`, and `completion/complete` is an unknown method. In
  other servers a resource or prompt without `complete` returns no values, because clients cannot see which entries have
  completion.
  """
  defmacro complete(controller, function \\ []),
    do: Handler.declare(ResourceDefinition, :complete, controller, function, __CALLER__)

  defp put(statement, value, caller) do
    quote do
      ResourceDefinition.put!(__MODULE__, unquote(statement), unquote(value), unquote(Refusal.place(caller)))
    end
  end
end
