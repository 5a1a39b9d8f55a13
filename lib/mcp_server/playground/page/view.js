// The host of a view of MCP Apps: a frame with an opaque origin, under the policy that the server generates from what
// the view declares.

import { h, part } from "./dom.js";
import { tree } from "./table.js";

const revision = "2026-01-26";
const allowed = { camera: "camera", microphone: "microphone", geolocation: "geolocation", clipboardWrite: "clipboard-write" };

export const viewOf = (tool) => tool?._meta?.ui?.resourceUri ?? tool?._meta?.["ui/resourceUri"];

// Hidden from views are the tools that are for the model alone.
const isForViews = (tool) => (tool?._meta?.ui?.visibility ?? ["model", "app"]).includes("app");

// The view of a tool for one call. `client` answers what it asks for.
export async function drawView({ client, tool, tools, input, result }) {
  const { contents } = await client.call("resources/read", { uri: viewOf(tool) });
  const [{ text, blob, _meta }] = contents;
  const html = text ?? new TextDecoder().decode(Uint8Array.from(atob(blob), (char) => char.charCodeAt(0)));
  const { csp = null, permissions = {}, prefersBorder } = _meta?.ui ?? {};
  const frame = h("iframe", {
    title: `View of ${tool.name}`,
    sandbox: "allow-scripts",
    allow: Object.keys(permissions).map((name) => allowed[name]).filter(Boolean).join("; "),
    class: prefersBorder ? "view bordered" : "view",
    src: `view.html?csp=${encodeURIComponent(JSON.stringify(csp))}`,
  });
  const asked = h("ol", { class: "news", "aria-label": "What the view asked for" });
  const note = (...words) => asked.append(h("li", null, ...words));

  const send = (message) => frame.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const dark = () => getComputedStyle(document.documentElement).colorScheme === "dark"
    || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  const context = () => ({
    theme: dark() ? "dark" : "light", displayMode: "inline", availableDisplayModes: ["inline"],
    platform: "web", locale: navigator.language, toolInfo: { tool },
  });

  const requests = {
    "ui/initialize": () => ({
      protocolVersion: revision, hostInfo: { name: "mcp_server playground", version: "1.0.0" },
      hostCapabilities: { serverTools: {}, serverResources: {}, logging: {} }, hostContext: context(),
    }),
    "ping": () => ({}),
    "tools/call": async ({ name, arguments: args }) => {
      if (!isForViews(tools().find((known) => known.name === name))) throw new Error(`the view may not call ${name}`);
      note(h("strong", null, "tools/call "), `${name} ${JSON.stringify(args ?? {})}`);
      return client.call("tools/call", { name, arguments: args ?? {} });
    },
    "resources/read": ({ uri }) => client.call("resources/read", { uri }),
    "resources/list": (params) => client.call("resources/list", params),
    "resources/templates/list": (params) => client.call("resources/templates/list", params),
    "ui/request-display-mode": () => ({ mode: "inline" }),
    "ui/message": (params) => shown("ui/message", params),
    "ui/update-model-context": (params) => shown("ui/update-model-context", params),
  };
  const shown = (method, params) => {
    note(part(method, false, tree(params)));
    return {};
  };
  let isDrawn = false;
  const notifications = {
    // Once: a view could load the sandbox again, under a policy of its own choice.
    "ui/notifications/sandbox-proxy-ready": () => {
      if (isDrawn) return note(h("strong", { class: "failure" }, "The view has left its document."));
      isDrawn = true;
      send({ method: "ui/notifications/sandbox-resource-ready", params: { html } });
    },
    "ui/notifications/initialized": () => {
      send({ method: "ui/notifications/tool-input", params: { arguments: input } });
      send({ method: "ui/notifications/tool-result", params: result });
    },
    "ui/notifications/size-changed": ({ height }) => {
      if (height > 0) frame.height = String(Math.min(Math.ceil(height), 1200));
    },
    "notifications/message": (params) => shown("notifications/message", params),
    "playground/blocked": ({ directive, uri }) => note(h("strong", { class: "failure" }, "Blocked by the view's policy: "), `${directive} ${uri}`),
  };

  const listen = async ({ source, data }) => {
    if (source !== frame.contentWindow || data?.jsonrpc !== "2.0") return;
    const { id, method, params = {} } = data;
    if (id === undefined) return notifications[method]?.(params);
    if (method === undefined) return undefined;
    try {
      if (!Object.hasOwn(requests, method)) throw Object.assign(new Error(`${method} is not supported`), { code: -32601 });
      send({ id, result: await requests[method](params) });
    } catch (error) {
      send({ id, error: { code: error.code ?? -32603, message: error.message } });
    }
  };
  addEventListener("message", listen);
  const follow = () => send({ method: "ui/notifications/host-context-changed", params: { theme: context().theme } });
  addEventListener("themechange", follow);
  // A view that is no longer shown is told and answered nothing.
  const close = () => {
    removeEventListener("message", listen);
    removeEventListener("themechange", follow);
  };
  return { element: h("section", { class: "app" }, h("h4", null, "View"), frame, asked), close };
}
