defmodule McpServer.Fetch do
  @moduledoc false
  # Sends one request to another server, on a new connection, over OTP's sockets and TLS. OTP's client `:httpc` was
  # measured and rejected: it bounds neither headers (80 MB of them made 2 GB of terms) nor an arriving body.
  # Redirects are not followed.

  alias McpServer.Fetch.{Address, Body, Head, Socket}

  @typedoc """
  `timeout` is the total of all waits, in milliseconds. With `stream` the caller reads the body. `addresses` are the
  allowed addresses.
  """
  @type request :: %{
          method: :get | :post | :put | :delete,
          url: String.t(),
          headers: [{String.t(), String.t()}],
          body: binary() | nil,
          timeout: pos_integer(),
          max_body_bytes: pos_integer(),
          stream: boolean(),
          addresses: Address.scope()
        }

  @type response :: %{status: 100..599, headers: [{String.t(), String.t()}], body: binary() | Body.t()}

  @doc "Whether a text is visible ASCII, as every URL is. Other characters could add lines to a request or to the log."
  @spec visible?(String.t()) :: boolean()
  def visible?(text), do: text =~ ~r/\A[\x21-\x7E]+\z/

  @doc "Whether a header has the characters that HTTP allows (RFC 9110, section 5). Others could add lines to a request."
  @spec header?({String.t(), term()}) :: boolean()
  # A value may come from a message that the bridge passes on.
  def header?({_name, value}) when not is_binary(value), do: false

  def header?({name, value}),
    do: name =~ ~r/\A[!#$%&'*+\-.^_`|~0-9A-Za-z]+\z/ and not (value =~ ~r/[^\t\x20-\x7E\x80-\xFF]/)

  @doc "Sends a request and reads its response. With `stream` the caller must close the body's socket."
  @spec fetch(request(), tls :: keyword()) :: {:ok, response()} | {:error, term()}
  def fetch(request, tls) do
    cond do
      not visible?(request.url) -> {:error, :malformed_url}
      not Enum.all?(request.headers, &header?/1) -> {:error, :malformed_header}
      true -> fetch(URI.parse(request.url), request, tls)
    end
  end

  defp fetch(uri, request, tls) do
    with {:ok, socket} <- Socket.connect(uri, request, tls) do
      outcome = exchange(socket, uri, request)
      unless match?({:ok, %{body: %Body{}}}, outcome), do: Socket.close(socket)
      outcome
    end
  end

  defp exchange(socket, uri, request) do
    with {:ok, socket} <- Socket.write(socket, Head.request(uri, request)),
         {:ok, head, socket} <- Head.read(socket),
         {:ok, body} <- Body.new(head, socket),
         {:ok, body} <- take(body, request) do
      {:ok, %{status: head.status, headers: head.headers, body: body}}
    end
  end

  defp take(body, %{stream: true}), do: {:ok, body}
  defp take(body, %{max_body_bytes: max}), do: Body.whole(body, max)
end
