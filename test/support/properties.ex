defmodule McpServer.Properties do
  # Properties checked with PropEr (Debian's `erlang-proper`), which may not be installed.
  #
  #     use McpServer.Properties
  #
  #     if McpServer.Installed.here?(:proper) do
  #       @tag McpServer.Installed.tags(:proper)
  #       test "…", do: holds(forall(type, fun), 200)
  #     end
  @moduledoc false

  import ExUnit.Assertions

  # The key of the last exception in a property, in the process dictionary.
  @exception {__MODULE__, :exception}

  defmacro __using__(options) do
    quote do
      import McpServer.Properties, only: unquote(options[:only] || [forall: 2, holds: 2, holds: 3])
      @compile {:no_warn_undefined, [:proper, :proper_types, :proper_unicode]}
    end
  end

  @doc "A property of every `input` of a type: `fun` returns true. An exception is a failure."
  def forall(type, fun) do
    # PropEr 1.2 loses the input of an exception: it calls `erlang:get_stacktrace/0`, which OTP no longer has.
    caught = fn input ->
      try do
        fun.(input)
      catch
        kind, reason ->
          Process.put(@exception, Exception.format(kind, reason, __STACKTRACE__))
          false
      end
    end

    # Called with `apply/3`, because PropEr is not a dependency and may be missing.
    apply(:proper, :forall, [type, caught])
  end

  @doc """
  Checks a property `runs` times; `MCP_SCALE=20 mix test …` multiplies `runs` by 20.

  The input follows `seed/0`. The message of a failure has the variables that generate it again.
  """
  def holds(property, runs, max_size \\ 30) do
    options = [:quiet, :long_result, max_size: max_size, numtests: runs * scale()]
    # PropEr goes on with the random numbers of its process, and deletes their state at the end.
    random = :rand.export_seed()
    seed_random()
    counterexample = apply(:proper, :quickcheck, [property, options])
    if random != :undefined, do: :rand.seed(random)
    if counterexample != true, do: flunk(message(counterexample))
  end

  @doc """
  Seeds the random numbers of this process with `seed/0`: the input that they generate is the same in every run.

  What follows ExUnit's own seed, such as an order, is the same with `mix test --seed`.
  """
  def seed_random, do: :rand.seed(:exsss, seed())

  @doc """
  The seed of generated input, `MCP_SEED`. It is 1 unless another is asked for, so that a run of the tests repeats the
  one before it.

  `MCP_SEED=random` asks for an unknown one. `rust_tests` reads the same variables.
  """
  def seed, do: String.to_integer(System.get_env("MCP_SEED", "1"))

  @doc "Replaces `MCP_SEED=random` by a number, for this VM and those that it starts, and prints the number."
  def choose_seed do
    if System.get_env("MCP_SEED") == "random" do
      System.put_env("MCP_SEED", "#{:rand.uniform(0xFFFF_FFFF)}")
      IO.puts("MCP_SEED=#{seed()}")
    end
  end

  @doc "How many times the usual input a run takes, `MCP_SCALE`."
  def scale, do: String.to_integer(System.get_env("MCP_SCALE", "1"))

  # The shortest counterexample is the last that failed, so the exception is its own.
  defp message(counterexample) do
    """
    MCP_SEED=#{seed()} MCP_SCALE=#{scale()} generates this input again:
    #{inspect(counterexample, limit: :infinity, printable_limit: :infinity, charlists: :as_lists, pretty: true)}
    #{Process.get(@exception)}
    """
  end
end
