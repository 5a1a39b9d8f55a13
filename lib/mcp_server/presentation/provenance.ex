defmodule McpServer.Presentation.Provenance do
  @moduledoc false
  # Where data is from, without what must stay here: see `McpServer.Presentation.provenance/2`.

  alias McpServer.Results

  @spec public(keyword | map, [String.t() | Regex.t()]) :: map
  def public(members, secrets) do
    for {key, value} <- members, (told = told(to_string(key), value, secrets)) != nil, into: %{} do
      {to_string(key), told}
    end
  end

  defp told(key, %module{} = time, secrets) when module in [DateTime, NaiveDateTime],
    do: told(key, timestamp(time), secrets)

  defp told(key, text, secrets) when is_binary(text) do
    unless not String.valid?(text) or Results.private?(key, text) or secret?(text, secrets), do: text
  end

  defp told(key, members, secrets) when is_map(members) and not is_struct(members) do
    unless Results.private?(key, ""), do: public(members, secrets)
  end

  defp told(key, list, secrets) when is_list(list) do
    for value <- list, (told = told(key, value, secrets)) != nil, do: told
  end

  defp told(key, value, secrets) when is_number(value) or is_boolean(value) do
    unless Results.private?(key, "") or secret?(to_string(value), secrets), do: value
  end

  defp told(key, value, secrets) when is_atom(value) and value != nil, do: told(key, Atom.to_string(value), secrets)
  defp told(_key, _value, _secrets), do: nil

  defp secret?(text, secrets) do
    Enum.any?(secrets, fn
      %Regex{} = pattern -> Regex.match?(pattern, text)
      secret -> String.contains?(text, secret)
    end)
  end

  @spec timestamp(DateTime.t() | NaiveDateTime.t()) :: String.t()
  def timestamp(%NaiveDateTime{} = time), do: time |> DateTime.from_naive!("Etc/UTC") |> timestamp()

  def timestamp(%DateTime{} = time) do
    time = DateTime.shift_zone!(time, "Etc/UTC")
    {microsecond, _precision} = time.microsecond
    DateTime.to_iso8601(%{time | microsecond: {microsecond, 3}})
  end
end
