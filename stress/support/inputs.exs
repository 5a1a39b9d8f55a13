defmodule Stress.Inputs do
  @moduledoc "The most expensive inputs of the native code, as calls of public functions and as request bodies."

  alias McpServer.FaultRouter.Schemas
  alias McpServer.JSON
  alias McpServer.Schema.Validator

  @mib 1024 * 1024
  @many [max_values: 10_000_000]

  @doc "Named functions without arguments. Their terms are never copied."
  @spec work() :: [{String.t(), (() -> term())}]
  def work do
    {:ok, lattice} = Validator.compile(Schemas.lattice())
    {:ok, patterns} = Validator.compile(Schemas.patterns())
    {:ok, texts} = Validator.compile(Schemas.texts())
    {:ok, unique} = Validator.compile(Schemas.unique())
    numbers = shared(:numbers, %{"items" => Enum.to_list(1..1_000_000)})
    objects = shared(:objects, %{"items" => for(n <- 1..100_000, do: %{"n" => n, "s" => "x#{n}"})})
    hostile = %{"nested" => String.duplicate("a", 100_000) <> "!"}

    decoding() ++
      [
        {"write 1,000,000 numbers", fn -> {:ok, _text} = JSON.encode(numbers.()) end},
        {"$ref lattice", fn -> {:error, _error} = Validator.validate(lattice, %{"value" => "hostile"}) end},
        {"patterns", fn -> {:error, _error} = Validator.validate(patterns, hostile) end},
        {"1,000,000 wrong items", fn -> {:error, _error} = Validator.validate(texts, numbers.()) end},
        {"100,000 unique objects", fn -> :ok = Validator.validate(unique, objects.()) end},
        {"compile a lattice", fn -> {:ok, _validator} = Validator.compile(Schemas.lattice()) end},
        {"compile a bomb", fn -> {:error, _error} = Validator.compile(%{"pattern" => "(\\p{L}{100}){100}"}) end}
      ]
  end

  defp decoding do
    for {name, text} <- texts() do
      {"read #{name}", fn -> JSON.decode(text, @many) end}
    end ++ for {name, text} <- corpus(), do: {"read #{name}", fn -> JSON.decode(text) end}
  end

  @doc "JSON texts of about 4 MiB, by name."
  @spec texts() :: [{String.t(), binary()}]
  def texts do
    zeros = "[" <> String.duplicate("0,", 2 * @mib - 2) <> "0]"

    [
      {"4 MiB of zeros", zeros},
      {"4 MiB, wrong at the end", binary_part(zeros, 0, byte_size(zeros) - 1) <> "!"},
      {"an object of 150,000 keys", "{" <> Enum.map_join(150_000..1, ",", &~s("key-#{&1}":#{&1})) <> "}"},
      {"4 MiB of escapes", ~s(["#{String.duplicate("\\u00e9\\n", div(@mib, 2))}"])},
      {"4 MiB of text", ~s(["#{String.duplicate("x", 4 * @mib - 4)}"])},
      {"128 levels", String.duplicate("[", 128) <> String.duplicate("]", 128)},
      {"20,000 times 100 levels", "[" <> Enum.map_join(1..20_000, ",", fn _n -> nested(100) end) <> "]"},
      {"4,000,000 brackets", String.duplicate("[", 4_000_000)}
    ]
  end

  defp nested(levels), do: String.duplicate("[", levels) <> String.duplicate("]", levels)

  # The ten longest texts of the public suite, if it is present.
  defp corpus do
    Path.expand("../../../shared/corpora/JSONTestSuite/test_parsing/*.json", __DIR__)
    |> Path.wildcard()
    |> Enum.sort_by(&File.stat!(&1).size, :desc)
    |> Enum.take(10)
    |> Enum.map(&{Path.basename(&1, ".json"), File.read!(&1)})
  end

  # A closure would be copied into each process with its terms; a persistent term is not.
  defp shared(name, term) do
    :persistent_term.put({__MODULE__, name}, term)
    fn -> :persistent_term.get({__MODULE__, name}) end
  end
end
