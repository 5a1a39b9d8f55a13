defmodule McpServer.Http.Resources do
  @moduledoc false
  # The `resources:` of `McpServer.HttpServer`: stored results beside the messages, on the same listener.

  alias McpServer.DualResponse.Rest
  alias McpServer.Http.Mount
  alias McpServer.Protocol.HTTP

  @doc """
  The endpoint, `nil` where nothing is said of one.

  Raises `ArgumentError` that says what was given and what is allowed.
  """
  @spec rest!(term(), Mount.t(), keyword()) :: Rest.t() | nil
  def rest!(nil, _mount, _options), do: nil
  def rest!({path, server}, mount, options), do: rest!([path: path, server: server], mount, options)

  def rest!(resources, mount, options) do
    Keyword.keyword?(resources) ||
      raise ArgumentError, "expected :resources to be {path, server} or a keyword list, got: #{inspect(resources)}"

    {path, own} = Keyword.pop(resources, :path, "/resources")
    check_path!(path, options[:path])

    [metadata_url: HTTP.metadata_url(mount.policy)]
    |> Keyword.merge(Keyword.take(options, [:allowed_hosts, :allowed_origins]))
    |> Keyword.merge(own)
    |> Keyword.put(:prefix, path)
    |> own_metadata()
    |> identified(mount.authorize)
    |> Rest.new()
  end

  # What the endpoint says of itself goes before what the server says.
  defp own_metadata(options) do
    if options[:resource_metadata], do: Keyword.delete(options, :metadata_url), else: options
  end

  defp check_path!(path, mcp) do
    (is_binary(path) and path != "" and not below?(mcp, path) and not below?(path, mcp)) ||
      raise ArgumentError, "expected :resources to have a path of its own, beside #{mcp}, got: #{inspect(path)}"
  end

  defp below?(path, other), do: path == other or String.starts_with?(path, other <> "/")

  # Who may not call a tool may not fetch its results either.
  defp identified(options, nil), do: options

  defp identified(options, authorize) do
    if options[:identify] || options[:authorize],
      do: options,
      else: Keyword.put(options, :identify, &identify(authorize, &1))
  end

  defp identify(authorize, request) do
    case Mount.call_hook(authorize, request) do
      {:ok, principal} -> %{subject: principal}
      {:error, _reason} -> {:error, :unauthorized}
    end
  end

  @doc "Whether a hook has to see the heads of requests."
  @spec hooks?(Rest.t()) :: boolean()
  def hooks?(%{identify: identify, authorize: authorize}), do: identify != nil or authorize != nil
end
