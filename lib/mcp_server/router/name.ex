defmodule McpServer.Router.Name do
  @moduledoc false
  # The rules for the names in a router.

  alias McpServer.Router.{Refusal, Scope}

  @max_bytes 128

  @doc "Checks the name of a tool."
  @spec check!(term, String.t(), Refusal.place()) :: String.t()
  def check!(name, kind, place) do
    if valid?(name),
      do: name,
      else:
        Refusal.refuse!(place, "a #{kind}'s name is 1 to 128 characters of A-Z a-z 0-9 _ . / -, got: #{inspect(name)}")
  end

  @doc "Whether the term is a valid name of a tool."
  @spec valid?(term) :: boolean
  def valid?(name), do: is_binary(name) and name =~ pattern()

  # The names of tools that every client accepts (SEP-986).
  defp pattern, do: ~r/\A[A-Za-z0-9_.\/-]{1,128}\z/

  @doc "Checks the name of a prompt, a resource, an argument or a field, which may be any text."
  @spec check_free!(term, String.t(), Refusal.place()) :: String.t()
  def check_free!(name, kind, place) do
    if is_binary(name) and byte_size(name) in 1..@max_bytes and String.printable?(name),
      do: name,
      else: Refusal.refuse!(place, "#{kind} is named by a string of 1 to 128 bytes, got: #{inspect(name)}")
  end

  @doc "Refuses a name that the router has already declared."
  @spec check_new!(module, Scope.kind(), String.t(), Refusal.place()) :: :ok
  def check_new!(module, kind, name, place) do
    case Enum.find(Scope.declared(module, kind), &(&1.name == name)) do
      nil -> :ok
      earlier -> Refusal.refuse_twin!(place, "#{label(kind)} #{inspect(name)}", earlier.place)
    end
  end

  defp label(:tool), do: "Tool"
  defp label(:prompt), do: "Prompt"
  defp label(:resource), do: "Resource"

  @doc "Checks a description."
  @spec check_description!(term, String.t(), Refusal.place()) :: String.t() | nil
  def check_description!(description, owner, place) do
    if is_binary(description) or is_nil(description),
      do: description,
      else: Refusal.refuse!(place, "the description of #{owner} is a string, got: #{inspect(description)}")
  end
end
