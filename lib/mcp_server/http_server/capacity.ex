defmodule McpServer.HttpServer.Capacity do
  @moduledoc false
  # How many connections the VM has room for.
  #
  # A connection takes a descriptor of the operating system's process, a port of the VM, and a few processes of the VM.
  # If one of these runs out, files, databases and logs fail too. So a part of each is reserved: for the application,
  # and for a connection that is accepted only to be refused.

  alias McpServer.Limit

  @reserved_least 64
  @reserved_most 1_024
  # Its own, its call's, and two of TLS.
  @processes_each 4

  @doc "How many of the wanted connections there is room for, and a sentence about it if there is room for fewer."
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
