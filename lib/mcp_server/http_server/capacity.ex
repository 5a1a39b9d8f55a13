defmodule McpServer.HttpServer.Capacity do
  @moduledoc false
  # Computes how many connections the VM has room for.
  #
  # A connection takes a file descriptor, a port and a few processes of the VM. If one of these runs out, files,
  # databases and logs fail too. So a part of each is reserved for the application, and for connections that are
  # accepted only to be refused.

  alias McpServer.Limit

  @reserved_least 64
  @reserved_most 1_024
  # One for the connection, one for its call, two for TLS.
  @processes_each 4

  @doc "How many of the wanted connections have room, with a sentence for the log if fewer have."
  @spec bound(wanted :: pos_integer()) :: {:ok, pos_integer()} | {:fewer, pos_integer(), String.t()}
  def bound(wanted) do
    {name, limit, each} = resource = Enum.min_by(resources(), &room/1)
    room = room(resource)
    if room < wanted, do: {:fewer, room, fewer(name, limit, room, wanted, each)}, else: {:ok, wanted}
  end

  defp resources do
    [
      descriptors: :erlang.system_info(:check_io) |> List.flatten() |> Keyword.fetch!(:max_fds),
      ports: :erlang.system_info(:port_limit),
      processes: :erlang.system_info(:process_limit)
    ]
    |> Enum.map(fn {name, limit} -> {name, limit, if(name == :processes, do: @processes_each, else: 1)} end)
  end

  defp room({_name, limit, each}), do: max(1, div(limit - reserved(limit), each))

  defp reserved(limit), do: limit |> div(8) |> max(@reserved_least) |> min(@reserved_most) |> min(limit)

  defp fewer(name, limit, room, wanted, each) do
    "at most #{Limit.digits(room)} connections at once, not to #{Limit.digits(wanted)} (max_connections): " <>
      "this VM may have #{Limit.digits(limit)} #{name}, and #{Limit.digits(reserved(limit))} of them are reserved. " <>
      "Raise the limit with #{remedy(name, wanted * each + @reserved_most)}, or write http: [max_connections: #{room}]"
  end

  defp remedy(:descriptors, limit), do: "`ulimit -n #{limit}` (systemd: LimitNOFILE=#{limit})"
  defp remedy(:ports, limit), do: "`+Q #{limit}` in vm.args or in ELIXIR_ERL_OPTIONS"
  defp remedy(:processes, limit), do: "`+P #{limit}` in vm.args or in ELIXIR_ERL_OPTIONS"
end
