defmodule McpServer.FolderStore do
  # A session store in a folder, which VMs that are not connected share.
  @moduledoc false
  @behaviour McpServer.SessionStore

  @impl true
  def get([folder: folder], key) do
    with {:error, :enoent} <- File.read(Path.join(folder, key)), do: :none
  end

  @impl true
  def put([folder: folder], key, value, _ttl, _holder), do: File.write(Path.join(folder, key), value)

  @impl true
  def delete([folder: folder], key) do
    with {:error, :enoent} <- File.rm(Path.join(folder, key)), do: :ok
  end
end
