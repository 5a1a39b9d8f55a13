# Judges the tokens of `tokens.py` as a server does, and compares: `mix run --no-start conformance/tokens/judge.exs FILE`.
#
# Where the judges differ, the kind of token has its reason here. A kind that differs and has none fails, and so does
# one that has a reason and does not differ. PyJWT and joserfc check signatures and times and leave the rest to who uses
# them; so nearly every difference is that this library refuses more.
alias McpServer.Auth.{Discovery, Signature}
alias McpServer.JSON
alias McpServer.Protocol.Auth

refused = %{
  "expiry that is a text" => "a time is a number, and what is none is never taken for one",
  "expiry beyond 2 to the 53" => "a time is a number that a float tells from the next",
  "not before, a text" => "a time is a number",
  "subject of 257 bytes" => "a subject has at most 256 bytes",
  "bound to a key" => "as a bearer token, a bound one is worth nothing (RFC 7800)",
  "an ID token" => "ID tokens are for clients",
  "scope that is a number" => "scopes are a text or a list of texts",
  "101 claims" => "there are at most 100 claims",
  "nine levels" => "claims have at most eight levels",
  "typ of a proof" => "the type must be that of an access token (RFC 9068)",
  "crit empty" => "the list must not be empty (RFC 7515)",
  "jku" => "a token does not bring the address of its key",
  "jwk" => "a token does not bring its key",
  "x5u" => "a token does not bring the address of its key",
  "zip" => "nothing is decompressed",
  "cty JWT" => "a token in a token is not looked at",
  "padding" => "base64url has no padding (RFC 7515)",
  "claims twice" => "a name stands once, or two readers see two tokens",
  "header twice" => "a name stands once, or two readers see two tokens"
}

taken = %{
  "audience in other letters" => "scheme and host have no case, and :443 is https' own port (RFC 3986)"
}

[file] = System.argv()
[published | tokens] = file |> File.read!() |> String.split("\n", trim: true) |> Enum.map(&JSON.decode!/1)
{:ok, %{keys: keys, skipped: 0}} = published |> JSON.encode!() |> Discovery.read()

{:ok, policy} =
  Auth.policy(%{
    issuer: "https://auth.example",
    audience: ["https://mcp.example/mcp"],
    leeway: 30,
    max_token_bytes: 8_192
  })

takes? = fn token ->
  case Auth.screen(token, policy, keys, 1_700_000_000) do
    {:ok, proof} -> Signature.valid?(proof)
    {:error, _reason, _text} -> false
  end
end

judged = for line <- tokens, do: {line, takes?.(line["token"])}
good = Enum.count(judged, fn {_line, ours} -> ours end)

differ = for {line, ours} <- judged, judge <- ["pyjwt", "joserfc"], line[judge] != ours, do: {line["kind"], ours, judge}

IO.puts(
  "#{length(tokens)} tokens, #{good} of them taken; PyJWT and joserfc judge all others alike but for these kinds:"
)

for {{kind, ours, judge}, count} <- differ |> Enum.frequencies() |> Enum.sort() do
  reason = if ours, do: taken[kind], else: refused[kind]
  says = if ours, do: "taken", else: "refused"

  IO.puts(
    "  #{String.pad_trailing("#{kind}: #{says}, not as by #{judge}", 64)} #{count}  #{reason || "WITHOUT A REASON"}"
  )
end

found = for {kind, ours, _judge} <- differ, uniq: true, do: {kind, ours}
known = for {kinds, ours} <- [{refused, false}, {taken, true}], {kind, _reason} <- kinds, do: {kind, ours}
without = found -- known
stale = known -- found
for {kind, _ours} <- stale, do: IO.puts("  #{kind}: has a reason here, and no judge differs")
if without != [] or stale != [] or good == 0, do: System.halt(1)
