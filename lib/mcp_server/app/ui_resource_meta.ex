defmodule McpServer.App.UIResourceMeta do
  @moduledoc """
  The rules for a host that frames a `ui://` resource.

  Keys of `csp` and `permissions` may be camelCase or snake_case.

      iex> McpServer.App.UIResourceMeta.new(csp: [connect_domains: ["api.example.com"]], permissions: [camera: true])
      %McpServer.App.UIResourceMeta{csp: %{connect_domains: ["api.example.com"]}, permissions: %{camera: true}}
  """

  alias McpServer.Fields

  @type csp :: %{
          optional(:connect_domains) => [String.t()] | nil,
          optional(:resource_domains) => [String.t()] | nil,
          optional(:frame_domains) => [String.t()] | nil,
          optional(:base_uri_domains) => [String.t()] | nil
        }

  @typedoc "`true` and a map request the permission, `false` and `nil` do not."
  @type permissions :: %{
          optional(:camera) => boolean | map | nil,
          optional(:microphone) => boolean | map | nil,
          optional(:geolocation) => boolean | map | nil,
          optional(:clipboard_write) => boolean | map | nil
        }

  use McpServer.Fields,
    csp: [
      :any,
      type: csp,
      doc:
        "a map of lists, the origins that the view may use: `connect_domains`, `resource_domains`, `frame_domains`, `base_uri_domains`"
    ],
    permissions: [
      :any,
      type: permissions,
      doc:
        "a map of requested permissions: `camera`, `microphone`, `geolocation`, `clipboard_write`, each `true` or `%{}`"
    ],
    domain: [:string, doc: "a separate sandbox origin, assigned by the host"],
    prefers_border: [:boolean, doc: "whether the host should draw a border"]

  @csp Fields.table(
         connect_domains: {:list, :string},
         resource_domains: {:list, :string},
         frame_domains: {:list, :string},
         base_uri_domains: {:list, :string}
       )

  @permissions Fields.table(camera: :grant, microphone: :grant, geolocation: :grant, clipboard_write: :grant)

  @doc "Builds the metadata; raises `ArgumentError` naming the field at fault."
  def new(fields) do
    meta = super(fields)
    owner = &"#{&1} of #{inspect(__MODULE__)}"
    %{meta | csp: csp!(meta.csp, owner.(":csp")), permissions: permissions!(meta.permissions, owner.(":permissions"))}
  end

  # A router names the resource in its errors.
  @doc false
  @spec csp!(term, String.t()) :: csp | nil
  def csp!(given, owner), do: given && Fields.gather!(owner, @csp, given)

  @doc false
  @spec permissions!(term, String.t()) :: permissions | nil
  def permissions!(given, owner), do: given && Fields.gather!(owner, @permissions, given)
end
