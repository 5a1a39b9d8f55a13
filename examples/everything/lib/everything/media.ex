defmodule Everything.Media do
  @moduledoc "A picture and a sound, small enough to write down."

  @png Base.decode64!(
         "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
       )

  @doc "A PNG of one pixel."
  def png, do: @png

  @doc "A WAV of eight silent samples."
  def wav do
    samples = :binary.copy(<<128>>, 8)
    format = <<1::little-16, 1::little-16, 8000::little-32, 8000::little-32, 1::little-16, 8::little-16>>
    chunks = "WAVE" <> chunk("fmt ", format) <> chunk("data", samples)
    chunk("RIFF", chunks)
  end

  defp chunk(name, bytes), do: <<name::binary, byte_size(bytes)::little-32, bytes::binary>>
end
