// Server-sent events of a response's body: { data, id, retry }.

export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = { data: [] };
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      for (const line of lines) {
        if (line === "") {
          yield { ...event, data: event.data.join("\n") };
          event = { data: [] };
        } else {
          const [, field, text] = line.match(/^([^:]*):? ?(.*)$/s);
          if (field === "data") event.data.push(text);
          if (field === "id") event.id = text;
          if (field === "retry" && /^\d+$/.test(text)) event.retry = Number(text);
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
