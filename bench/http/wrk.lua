-- Sends one message repeatedly. The environment describes it: BENCH_METHOD, by default POST; BENCH_HEADERS, one header
-- per line; BENCH_BODY; and for servers that require a session BENCH_SESSIONS, one id per line.

wrk.method = os.getenv("BENCH_METHOD") or "POST"
wrk.body = os.getenv("BENCH_BODY")

for name, value in (os.getenv("BENCH_HEADERS") or ""):gmatch("([^:\n]+): ([^\n]+)") do
  wrk.headers[name] = value
end

local sessions = {}
for session in (os.getenv("BENCH_SESSIONS") or ""):gmatch("[^\n]+") do
  table.insert(sessions, session)
end

-- Without this function wrk formats the request once and repeats the bytes. But concurrent requests of a session need
-- different ids. Everything except the id is formatted before: formatting each request took more of wrk's only thread
-- than a fast server leaves.
if #sessions > 0 then
  local id = 1000000
  local before, after = {}, {}

  function init()
    wrk.body = wrk.body:gsub('"id":1', '"id":' .. id, 1)

    for index, session in ipairs(sessions) do
      wrk.headers["Mcp-Session-Id"] = session
      local bytes = wrk.format()
      local first, last = bytes:find('"id":' .. id, 1, true)
      before[index], after[index] = bytes:sub(1, first + 4), bytes:sub(last + 1)
    end
  end

  function request()
    id = id + 1
    local index = id % #sessions + 1
    return before[index] .. id .. after[index]
  end
end

-- One line for the program that started wrk; times are in microseconds.
function done(summary, latency)
  local e = summary.errors
  local errors = e.connect + e.read + e.write + e.status + e.timeout
  local p50, p99 = latency:percentile(50), latency:percentile(99)
  print(string.format("figures %d %d %d %d %d %d", summary.requests, summary.duration, summary.bytes, p50, p99, errors))
end
