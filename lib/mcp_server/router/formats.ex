defmodule McpServer.Router.Formats do
  @moduledoc false
  # The option `formats:` of routers and tools: which formats the strings in a tool's arguments have to have.

  alias McpServer.Router.Refusal
  alias McpServer.Schema.Validator

  # Those that have one spelling, which is the one that handlers parse. `time` is not among them, because authors who
  # write it hardly mean RFC 3339's, which wants an offset; nor `hostname`, under which hosts have names that it refuses.
  @default ~w(date date-time email ipv4 ipv6 uri uuid)

  @doc "What is asserted where nothing is said."
  @spec default() :: [String.t()]
  def default, do: @default

  @doc "Refuses formats of another shape, and names that are not known."
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
