defmodule Notes.Application do
  @moduledoc false
  use Application

  @impl true
  def start(_type, _arguments) do
    Supervisor.start_link([Notes.Store], strategy: :one_for_one, name: Notes.Supervisor)
  end
end
