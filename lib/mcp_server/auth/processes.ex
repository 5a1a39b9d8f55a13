defmodule McpServer.Auth.Processes do
  @moduledoc false
  # The processes that ask issuers: one for each module and source, for all mounts. It starts with its first question.

  @registry McpServer.Http.Registry
  @supervisor McpServer.Http.RouteSupervisor
  # The delay in answers to clients, in seconds.
  @retry_after 5

  @typedoc "What a process asks, and how. It names the issuer's URL."
  @type source :: %{required(:issuer) => String.t(), optional(atom()) => term()}
  @type unavailable :: {:error, {:unavailable, seconds :: pos_integer()}}

  @doc "The reply of a source's process. A process that is busy or gone is unavailable."
  @spec ask(module(), source(), question :: term(), timeout :: pos_integer()) :: term() | unavailable()
  def ask(module, source, question, timeout) do
    GenServer.call(process(module, source), question, timeout)
  catch
    :exit, _busy_or_gone -> unavailable()
  end

  @doc "The reply while an issuer cannot be asked."
  @spec unavailable() :: unavailable()
  def unavailable, do: {:error, {:unavailable, @retry_after}}

  @doc "Ends the process of a source."
  @spec stop(module(), source()) :: :ok
  def stop(module, source) do
    with pid when is_pid(pid) <- GenServer.whereis(name(module, source)), do: terminate(pid)
    :ok
  rescue
    # A moment without the registry, while it is started anew.
    ArgumentError -> :ok
  catch
    # The supervisor has ended, and the process with it.
    :exit, _gone -> :ok
  end

  @doc "Ends a module's processes for an issuer's URL."
  @spec stop_url(module(), String.t()) :: :ok
  def stop_url(module, url),
    do: @registry |> Registry.select([{{{module, url, :_}, :"$1", :_}, [], [:"$1"]}]) |> Enum.each(&terminate/1)

  defp terminate(pid), do: DynamicSupervisor.terminate_child(@supervisor, pid)

  # Reports print names, so the name must not contain the source's secrets.
  defp name(module, source) do
    digest = :crypto.hash(:sha256, :erlang.term_to_binary(source))
    {:via, Registry, {@registry, {module, source.issuer, digest}}}
  end

  defp process(module, source) do
    name = name(module, source)

    case GenServer.whereis(name) do
      nil ->
        case DynamicSupervisor.start_child(@supervisor, {module, {source, name}}) do
          {:ok, pid} -> pid
          {:error, {:already_started, pid}} -> pid
          # Nobody wants what it would fetch.
          :ignore -> exit(:noproc)
        end

      pid ->
        pid
    end
  end
end
