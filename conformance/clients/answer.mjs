// The JSON-RPC answer in an HTTP response. After a second the server answers with a stream, whose last event it is.
export async function answerOf(response) {
  const text = await response.text();
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return JSON.parse(text);
  return JSON.parse([...text.matchAll(/^data: (.+)$/gm)].at(-1)[1]);
}
