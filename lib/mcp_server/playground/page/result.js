// What a call, a prompt or a resource gives, drawn by kind.

import { button, h, part } from "./dom.js";
import { table, tree } from "./table.js";

// `actions`: `read(uri)` opens a resource, `rows(id)` gives all rows of a stored result, or is undefined.
export function drawCall(result, actions) {
  const { content = [], structuredContent, isError, _meta } = result;
  return h("div", { class: isError ? "result failed" : "result" },
    isError && h("p", { class: "failure" }, "The tool says that it failed."),
    ...content.map((block) => drawBlock(block, actions)),
    structuredContent !== undefined && drawStructured(structuredContent, actions),
    _meta && part("_meta", false, tree(_meta)));
}

export function drawPrompt({ description, messages }, actions) {
  return h("div", { class: "result" }, description && h("p", null, description),
    ...messages.map(({ role, content }) => h("section", { class: "message" }, h("h4", null, role), drawBlock(content, actions))));
}

export const drawContents = ({ contents }) =>
  h("div", { class: "result" }, ...contents.map((one) => h("section", null, h("h4", null, one.uri), drawResource(one))));

export function drawBlock(block, actions) {
  switch (block.type) {
    case "text":
      return h("pre", { class: "text", tabindex: "0" }, block.text);
    case "image":
      return picture(block);
    case "audio":
      return sound(block);
    case "resource":
      return h("section", null, h("h4", null, block.resource.uri), drawResource(block.resource));
    case "resource_link":
      return h("p", { class: "link" }, button(`Read ${block.name ?? block.uri}`, () => actions.read(block.uri)),
        " ", h("code", null, block.uri), block.description && ` ${block.description}`);
    default:
      return tree(block);
  }
}

function drawResource({ mimeType = "", text, blob, uri }) {
  if (text !== undefined) return h("pre", { class: "text", tabindex: "0" }, text);
  if (mimeType.startsWith("image/")) return picture({ mimeType, data: blob, name: uri });
  if (mimeType.startsWith("audio/")) return sound({ mimeType, data: blob });
  return h("p", null, `${mimeType || "binary"}, ${Math.floor((blob ?? "").length * 0.75)} bytes`);
}

const picture = ({ mimeType, data, name }) =>
  h("img", { src: `data:${mimeType};base64,${data}`, alt: `${name ?? "Image"} (${mimeType})` });
const sound = ({ mimeType, data }) =>
  h("audio", { controls: true, src: `data:${mimeType};base64,${data}`, "aria-label": `Sound (${mimeType})` });

function drawStructured(data, actions) {
  const { resource, metadata } = data ?? {};
  const count = metadata?.total_count;
  const stored = actions.rows && resource?.uri?.startsWith("resource://") && typeof count === "number";
  return h("section", { class: "structured" },
    h("h4", null, "Structured content", typeof data?.kind === "string" && ` of the kind ${data.kind}`),
    stored && allRows(resource, metadata, actions),
    tree(data));
}

function allRows({ uri, name }, { total_count: count, columns }, actions) {
  const holder = h("div");
  const fetchAll = button(`Fetch all ${count} rows`, async () => {
    fetchAll.disabled = true;
    try {
      const rows = await actions.rows(uri.slice("resource://".length));
      holder.replaceChildren(table(rows, `${name}: ${rows.length} rows`, columns));
    } catch (error) {
      holder.replaceChildren(h("p", { class: "failure" }, error.message));
    }
    fetchAll.disabled = false;
  });
  return [h("p", null, fetchAll), holder];
}
