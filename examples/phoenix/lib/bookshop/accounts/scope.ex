defmodule Bookshop.Accounts.Scope do
  @moduledoc "Who is asking: the first argument of functions that read or change what belongs to a customer."
  defstruct [:customer]

  def for_customer(nil), do: nil
  def for_customer(customer), do: %__MODULE__{customer: customer}
end
