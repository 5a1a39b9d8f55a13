# The struct of `decimal`, which Debian's Elixir does not have.
unless Code.ensure_loaded?(Decimal) do
  defmodule Decimal do
    @moduledoc false
    defstruct sign: 1, coef: 0, exp: 0
  end
end
