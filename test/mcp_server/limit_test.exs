defmodule McpServer.LimitTest do
  # No limit can be lifted by accident: each option of each server refuses what is no limit, with words that say so.
  use ExUnit.Case, async: true

  alias McpServer.Connection.Options
  alias McpServer.{DualResponse, HttpPlug, HttpServer, JSON, Limit, LimitsRouter, Stdio}
  alias McpServer.DualResponse.Rest
  alias McpServer.Schema.Validator

  doctest McpServer.Limit

  @none [0, nil, :infinity, -1, 1.0, "1", true]

  defp open(:stdio, options), do: Stdio.start_link(options)
  defp open(:http_server, options), do: HttpServer.start_link(options)
  defp open(:http_plug, options), do: HttpPlug.init(options)
  defp open(:rest, options), do: Rest.new(options)
  defp open(:dual_response, options), do: DualResponse.start_link(options)
  defp open(:json, options), do: JSON.decode("1", options)
  defp open(:schema, options), do: Validator.compile(%{}, options)

  @required %{
    stdio: [router: LimitsRouter],
    http_server: [router: LimitsRouter, port: 0],
    http_plug: [router: LimitsRouter],
    rest: [server: __MODULE__],
    dual_response: [name: __MODULE__, base_url: "https://a.example"],
    json: [],
    schema: []
  }

  @messages [:max_depth, :max_values, :max_digits, :max_id_bytes, :max_method_bytes, :max_name_bytes, :max_uri_bytes] ++
              [:max_batch]
  @calls [:timeout, :input_timeout, :max_awaiting_input, :max_subscriptions, :max_heap_words, :max_result_bytes]
  @http [
          :max_body_bytes,
          :max_sessions,
          :max_sessions_per_principal,
          :max_share,
          :idle_timeout,
          :session_lifetime,
          :max_events
        ] ++
          [
            :max_event_bytes,
            :max_queued_bytes,
            :keep_alive,
            :stream_after,
            :stall_timeout,
            :max_requests,
            :max_listeners
          ] ++
          [:max_calls | @messages ++ @calls]
  @sockets [:max_connections, :max_head_bytes, :max_headers, :max_body_bytes_in_flight, :head_timeout, :body_timeout] ++
             [:body_grace, :body_min_rate, :connection_timeout, :drain]

  @options %{
    stdio: [:max_line_bytes, :grace, :max_waiting, :max_waiting_bytes, :max_streams, :max_calls | @messages ++ @calls],
    http_server: @sockets ++ @http,
    http_plug: @http,
    rest:
      [:max_body_bytes, :default_limit, :max_limit, :max_page_bytes, :stream_batch, :stream_min_rate, :stream_grace] ++
        [:timeout, :max_requests, :max_heap_words],
    dual_response: [
      :cleanup_interval,
      :max_resources,
      :max_bytes,
      :max_rows,
      :max_limit,
      :max_heap_words,
      :stream_batch
    ],
    json: [:max_bytes, :max_depth, :max_values, :max_digits],
    schema: Keyword.keys(Validator.limits())
  }

  for {door, options} <- @options, option <- options do
    test "#{door}: #{option} is a positive integer, and none without end" do
      open = fn value -> open(unquote(door), @required[unquote(door)] ++ [{unquote(option), value}]) end

      for value <- @none do
        message = "expected #{inspect(unquote(option))} to be a positive integer, got: #{inspect(value)}"
        assert_raise ArgumentError, message, fn -> open.(value) end
      end

      huge = 1_000_000_000_000_000_000_000
      message = ~r/\Aexpected #{inspect(unquote(option))} to be at most \d+, got: #{huge}\z/
      assert_raise ArgumentError, message, fn -> open.(huge) end
    end
  end

  test "the largest and one more" do
    for {name, most} <- [max_depth: 128, max_digits: 10_000, max_uri_bytes: 65_536, max_batch: 1_000] do
      assert {%{^name => ^most}, []} = Options.split([{name, most}])
      message = "expected #{inspect(name)} to be at most #{most}, got: #{most + 1}"
      assert_raise ArgumentError, message, fn -> Options.split([{name, most + 1}]) end
    end

    # As long as a timer can wait.
    assert Limit.most(:milliseconds) == 0xFFFF_FFFF
    timer = Process.send_after(self(), :never, Limit.most(:milliseconds))
    assert is_integer(Process.cancel_timer(timer))
  end

  test "on_eof: is one of three" do
    message = "expected :on_eof to be :stop, :ignore or a function of no arguments, got: :halt"
    assert_raise ArgumentError, message, fn -> Stdio.start_link(router: LimitsRouter, on_eof: :halt) end
  end

  test "query_timeout: ends, or is said to be without end" do
    for value <- [0, nil, -1] do
      message = "expected :query_timeout to be a positive integer, got: #{inspect(value)}"
      options = @required.dual_response ++ [query_timeout: value]
      assert_raise ArgumentError, message, fn -> DualResponse.start_link(options) end
    end
  end
end
