defmodule Bookshop.Repo do
  @moduledoc false
  use Ecto.Repo, otp_app: :bookshop, adapter: Ecto.Adapters.Postgres
end
