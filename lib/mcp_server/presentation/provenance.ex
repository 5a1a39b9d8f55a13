defmodule McpServer.Presentation.Provenance do
  @moduledoc false
  # The origin of data, without private parts: see `McpServer.Presentation.provenance/2`.

  @secret_names ~w(apikey authorization cookie credential passwd password privatekey secret token)

  # The prefixes of well-known tokens, and their minimum sizes in bytes.
  @tokens [
    {"sk-", 16},
    {"sk_live_", 16},
    {"ghp_", 20},
    {"gho_", 20},
    {"github_pat_", 20},
    {"glpat-", 16},
    {"xoxb-", 16},
    {"xoxp-", 16},
    {"AKIA", 20},
    {"eyJ", 40}
  ]

  @spec public(keyword | map, [String.t() | Regex.t()]) :: map
  def public(members, secrets) do
    for {key, value} <- members, (told = told(to_string(key), value, secrets)) != nil, into: %{} do
      {to_string(key), told}
    end
  end

  defp told(key, %module{} = time, secrets) when module in [DateTime, NaiveDateTime],
    do: told(key, timestamp(time), secrets)

  defp told(key, text, secrets) when is_binary(text) do
    unless not String.valid?(text) or secret_name?(key) or private?(text) or secret?(text, secrets), do: text
  end

  defp told(key, members, secrets) when is_map(members) and not is_struct(members) do
    unless secret_name?(key), do: public(members, secrets)
  end

  defp told(key, list, secrets) when is_list(list) do
    for value <- list, (told = told(key, value, secrets)) != nil, do: told
  end

  defp told(key, value, secrets) when is_number(value) or is_boolean(value) do
    unless secret_name?(key) or secret?(to_string(value), secrets), do: value
  end

  defp told(key, value, secrets) when is_atom(value) and value != nil, do: told(key, Atom.to_string(value), secrets)
  defp told(_key, _value, _secrets), do: nil

  defp secret?(text, secrets) do
    Enum.any?(secrets, fn
      %Regex{} = pattern -> Regex.match?(pattern, text)
      secret -> String.contains?(text, secret)
    end)
  end

  # A member with such a name is left out, whatever its value.
  defp secret_name?(name) do
    letters = name |> String.replace(~r/[^A-Za-z0-9]/, "") |> String.downcase(:ascii)
    String.contains?(letters, @secret_names)
  end

  # A local path or a credential.
  defp private?(text) do
    words = String.split(text, ~r/[\s"'`()\[\]{}<>=,;|]+/u, trim: true)
    Enum.any?(words, &(local_path?(&1) or token?(&1) or password?(&1))) or credential?(text)
  end

  defp local_path?(<<"/", _, _::binary>>), do: true
  defp local_path?(<<"~", slash, _::binary>>) when slash in ~c"/\\", do: true
  defp local_path?(<<"\\\\", _, _::binary>>), do: true

  defp local_path?(<<drive, ":", slash, _::binary>>) when drive in ?a..?z or drive in ?A..?Z,
    do: slash in ~c"/\\"

  # `file:x`, or a prefix before the path, as in `source:/etc/passwd`. A web address has two slashes after its colon.
  defp local_path?(word) do
    word =~ ~r/\Afile:/i or match?([_, <<next, _::binary>>] when next != ?/, String.split(word, ":/", parts: 2))
  end

  defp token?(word),
    do: Enum.any?(@tokens, fn {start, bytes} -> byte_size(word) >= bytes and String.starts_with?(word, start) end)

  # `scheme://user:password@host`
  defp password?(word) do
    with [_scheme, rest] <- String.split(word, "://", parts: 2),
         [authority | _path] = String.split(rest, ["/", "?", "#"], parts: 2),
         users = authority |> String.split("@") |> Enum.drop(-1) do
      Enum.any?(users, &String.contains?(&1, ":"))
    else
      [_no_scheme] -> false
    end
  end

  defp credential?(text) do
    String.contains?(text, "-----BEGIN ") or text =~ ~r/(?<!\S)bearer\s+\S/i or text =~ ~r/\A\s*authorization:/iu
  end

  @spec timestamp(DateTime.t() | NaiveDateTime.t()) :: String.t()
  def timestamp(%NaiveDateTime{} = time), do: time |> DateTime.from_naive!("Etc/UTC") |> timestamp()

  def timestamp(%DateTime{} = time) do
    time = DateTime.shift_zone!(time, "Etc/UTC")
    {microsecond, _precision} = time.microsecond
    DateTime.to_iso8601(%{time | microsecond: {microsecond, 3}})
  end
end
