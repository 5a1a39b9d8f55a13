# A port of its own, and a clock that the tests move: what expires does so when they say.
{:ok, listener} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
{:ok, port} = :inet.port(listener)
:ok = :gen_tcp.close(listener)

clock = :counters.new(1, [])
:persistent_term.put(Institutions.Clock, clock)
now = fn -> System.system_time(:millisecond) + :counters.get(clock, 1) end

Application.put_env(:institutions, :port, port)
Application.put_env(:institutions, :results, clock: now)
{:ok, _applications} = Application.ensure_all_started(:institutions)

ExUnit.start(timeout: 120_000)
