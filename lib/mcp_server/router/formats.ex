defmodule McpServer.Router.Formats do
  @moduledoc false
  # The option `formats:` of routers and tools: the formats that are checked in a tool's arguments.

  alias McpServer.Router.Refusal
  alias McpServer.Schema.Validator

  # The formats with one spelling, which handlers parse too. `time` is missing, because RFC 3339 requires an offset, and
  # authors rarely mean that. `hostname` is missing, because it refuses names of real hosts.
  @default ~w(date date-time email ipv4 ipv6 uri uuid)

  @doc "The formats that are checked by default."
  @spec default() :: [String.t()]
  def default, do: @default

  @doc "Refuses invalid values and unknown names."
  @spec check!(map, String.t(), Refusal.place()) :: :ok
  def check!(%{formats: formats}, owner, place) do
    Validator.formats?(formats) ||
      Refusal.refuse!(
        place,
        "the formats of #{owner} are :annotate, :assert or a list of names such as \"date\", got: #{inspect(formats)}"
      )

    with {:error, error} <- Validator.compile(true, formats: formats),
         do: Refusal.refuse!(place, "the formats of #{owner}: #{Exception.message(error)}")

    :ok
  end

  def check!(_options, _owner, _place), do: :ok
end
