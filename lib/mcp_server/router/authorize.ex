defmodule McpServer.Router.Authorize do
  @moduledoc false
  # The option `authorize:` of a declaration: the function that says whether a client may use what is declared.

  alias McpServer.Router.{Handler, Refusal}

  @doc "Checks the option's value; `nil` stands for no option."
  @spec check!(term, String.t(), Refusal.place()) :: :ok
  def check!(nil, _what, _place), do: :ok

  def check!({module, function}, what, place) when is_atom(function) do
    _handler = Handler.check!(module, function, "authorize of #{what}", "authorize:", place)
    :ok
  end

  def check!(other, what, place) do
    function = if is_atom(other) and other not in [true, false], do: other, else: :allowed?

    Refusal.refuse!(
      place,
      "authorize of #{what} must be {module, function}, got: #{inspect(other)}. " <>
        "Write: authorize: {MyApp.Auth, #{inspect(function)}}"
    )
  end

  @doc "The entry of what is declared, with the function where there is one."
  @spec put(map, {module, atom} | nil) :: map
  def put(entry, nil), do: entry
  def put(entry, handler), do: Map.put(entry, :authorize, handler)

  @doc "The function, for the check that it exists."
  @spec handlers({module, atom} | nil, String.t(), Refusal.place()) :: [Handler.named()]
  def handlers(nil, _what, _place), do: []

  def handlers(handler, what, place),
    do: [%{what: "authorize of #{what}", handler: handler, arity: 1, place: place, optional?: false}]
end
