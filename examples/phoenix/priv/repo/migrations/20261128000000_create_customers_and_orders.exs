defmodule Bookshop.Repo.Migrations.CreateCustomersAndOrders do
  use Ecto.Migration

  def change do
    create table(:customers) do
      add :name, :string, null: false
      timestamps(type: :utc_datetime)
    end

    create table(:api_tokens) do
      add :digest, :binary, null: false
      add :customer_id, references(:customers, on_delete: :delete_all), null: false
      timestamps(type: :utc_datetime, updated_at: false)
    end

    create unique_index(:api_tokens, [:digest])

    create table(:orders) do
      add :isbn, :string, null: false
      add :copies, :integer, null: false
      add :customer_id, references(:customers, on_delete: :delete_all), null: false
      timestamps(type: :utc_datetime)
    end

    create unique_index(:orders, [:customer_id, :isbn])
  end
end
