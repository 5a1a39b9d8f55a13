defmodule Bookshop.Release do
  @moduledoc "What a release does before it starts: `bin/bookshop eval Bookshop.Release.migrate`."

  def migrate do
    :ok = Application.load(:bookshop)
    {:ok, _migrated, _apps} = Ecto.Migrator.with_repo(Bookshop.Repo, &Ecto.Migrator.run(&1, :up, all: true))
  end
end
