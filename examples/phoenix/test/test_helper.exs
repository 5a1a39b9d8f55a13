ExUnit.start()
Ecto.Adapters.SQL.Sandbox.mode(Bookshop.Repo, :manual)
