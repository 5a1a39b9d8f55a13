defmodule McpServer.Dispatch.Context do
  @moduledoc false
  # The function of a router's `context:`, which fills the conn of each request before anything else of the application
  # is asked: the checks of access, the filters of lists, plugs and handlers. It runs in the process of the call, over
  # every transport.

  alias McpServer.{Catalog, Conn, Outline, Request}
  alias McpServer.Dispatch.{Failure, Reason}

  @doc "The conn of a request with what the router's function puts into it."
  @spec build(Catalog.t(), Request.t(), Conn.t()) ::
          {:ok, Conn.t()} | {:refused, text :: String.t()} | {:failed, Failure.t()}
  def build(%Catalog{server: %{context: nil}}, _request, conn), do: {:ok, conn}

  def build(%Catalog{server: %{context: {module, function}}, router: router}, request, conn) do
    conn = %{conn | router: router}

    case apply(module, function, [conn]) do
      %Conn{assigns: assigns, private: private} -> {:ok, %{conn | assigns: assigns, private: private}}
      {:error, reason} = returned -> refused(text(request, reason), returned, {module, function})
      other -> {:failed, invalid(other, {module, function})}
    end
  catch
    kind, reason -> {:failed, Failure.new(kind, reason, __STACKTRACE__)}
  end

  defp text(_request, text) when is_binary(text), do: if(String.valid?(text), do: text)
  defp text(request, reason), do: Reason.text(request, reason)

  defp refused(nil, returned, named), do: {:failed, invalid(returned, named)}
  defp refused(text, _returned, _named), do: {:refused, text}

  defp invalid(returned, {module, function}) do
    Failure.invalid_result(
      "#{Exception.format_mfa(module, function, 1)} returned #{Outline.of(returned)}. The function of `context:` returns " <>
        ~S'its conn, or {:error, "text"} to refuse the request.'
    )
  end
end
