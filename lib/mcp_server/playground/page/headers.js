// What HTTP repeats of a message's body since 2026-07-28.

const named = {
  "tools/call": "name", "prompts/get": "name", "resources/read": "uri",
  "tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId",
};

export function mirrored({ method, params }, repeated) {
  const headers = method ? { "mcp-method": method } : {};
  const name = params?.[named[method]];
  if (typeof name === "string") headers["mcp-name"] = encode(name);
  if (method !== "tools/call") return headers;
  for (const { path, header } of repeated) {
    const value = path.reduce((object, key) => object?.[key], params.arguments);
    if (["string", "number", "boolean"].includes(typeof value)) headers[`mcp-param-${header}`] = encode(String(value));
  }
  return headers;
}

// A header holds visible ASCII, without blanks around it.
function encode(text) {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?")) return text;
  return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`;
}

// Which arguments of a tool are repeated: those that its schema marks.
export function parameters(schema, path = []) {
  const here = path.length > 0 && schema?.["x-mcp-header"];
  const inner = Object.entries(schema?.properties ?? {}).flatMap(([name, value]) => parameters(value, [...path, name]));
  return here ? [{ path, header: here.toLowerCase() }, ...inner] : inner;
}
