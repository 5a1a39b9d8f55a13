# Debian's Elixir has no `decimal`; this is its struct.
unless Code.ensure_loaded?(Decimal) do
  defmodule Decimal do
    @moduledoc false
    defstruct sign: 1, coef: 0, exp: 0
  end
end
