// A tool, prompt or resource of the server: what it is, its form, and what came back.

import { button, byId, fill, h, name, part, uniqueId } from "./dom.js";
import { fields } from "./form.js";
import { drawCall, drawContents, drawPrompt } from "./result.js";
import { callTool, run } from "./run.js";
import { tree } from "./table.js";
import { drawView, viewOf } from "./view.js";

let views = [];

// What was shown before hears nothing any more.
function show(app, kind, item, ...content) {
  for (const view of views.splice(0)) view.close();
  const id = item.uri ?? item.uriTemplate ?? item.name;
  const title = item.title ?? item.annotations?.title ?? item.name;
  fill(byId("main"),
    h("p", { class: "kind" }, kind),
    h("h2", null, name(title)),
    id !== title && h("p", null, h("code", null, id)),
    item.description && h("p", null, item.description),
    badges(item),
    lint(app, kind, item),
    ...content,
    part("Declaration", false, tree(item)));
  byId("main").focus({ preventScroll: true });
  byId("main").scrollTop = 0;
}

function badges({ annotations = {}, execution, mimeType, _meta }) {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const words = [
    readOnlyHint && "read-only", destructiveHint === false && "not destructive", idempotentHint && "idempotent",
    openWorldHint === false && "closed world", mimeType, _meta?.ui?.resourceUri && "has a view",
    execution?.taskSupport && `tasks ${execution.taskSupport}`,
  ].filter(Boolean);
  return words.length > 0 && h("ul", { class: "badges" }, ...words.map((word) => h("li", null, word)));
}

export const findings = (app, kind, name) => app.about.lint.filter((one) => one.kind === kind && one.name === name);

function lint(app, kind, { name }) {
  const found = findings(app, kind, name);
  if (found.length === 0) return false;
  const line = ({ severity, code, message, advice, pointer, file, line }) =>
    h("li", { class: severity }, h("strong", null, `${severity}: ${code} `), h("code", null, pointer), ` ${message}. ${advice} `,
      h("span", { class: "type" }, `${file}:${line}`));
  const title = found.length === 1 ? "Lint: 1 finding" : `Lint: ${found.length} findings`;
  return h("section", { class: "lint", "aria-label": "Lint findings" }, part(title, found.length <= 3, h("ul", null, ...found.map(line))));
}

// A form whose button does the work in each era.
function form(label, parts, more, work) {
  const area = h("div", { class: "columns" });
  const mistake = h("p", { class: "failure", role: "alert" });
  const submit = (event) => {
    event?.preventDefault();
    mistake.textContent = "";
    try {
      work(parts.read(), area);
    } catch (error) {
      mistake.textContent = error.message;
    }
  };
  const quick = (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && submit(event);
  const element = h("form", { novalidate: true, onsubmit: submit, onkeydown: quick },
    parts.element, mistake, h("div", { class: "bar" }, h("button", { class: "primary" }, label), more));
  return { nodes: [element, area], submit };
}

// The stateless era says only of the server that some calls can be tasks.
function hasTasks({ clients }, { execution }) {
  const extension = clients.some(({ server }) => server.capabilities?.extensions?.["io.modelcontextprotocol/tasks"]);
  return ["optional", "required"].includes(execution?.taskSupport) || extension;
}

export function showTool(app, tool) {
  const box = h("input", { type: "checkbox", id: uniqueId("task"), checked: tool.execution?.taskSupport === "required" });
  const more = hasTasks(app, tool) && h("label", { class: "inline", for: box.id }, box, "as a task");
  const { nodes } = form("Call", fields(tool.inputSchema), more, (args, area) => {
    for (const view of views.splice(0)) view.close();
    run(app.clients, area, async (one) => {
      const result = await callTool(one, { name: tool.name, arguments: args }, box.checked);
      const drawn = [drawCall(result, actions(app))];
      if (viewOf(tool) && !result.isError) {
        const view = await drawView({ client: one.client, tool, tools: () => app.tools, input: args, result });
        views.push(view);
        drawn.unshift(view.element);
      }
      return { nodes: drawn, failed: result.isError };
    });
  });
  show(app, "tool", tool, ...nodes);
}

export function showPrompt(app, prompt) {
  const args = prompt.arguments ?? [];
  const properties = Object.fromEntries(args.map(({ name, title, description }) => [name, { type: "string", title, description }]));
  const required = args.filter((one) => one.required).map(({ name }) => name);
  const { nodes } = form("Get", fields({ properties, required }), null, (given, area) =>
    run(app.clients, area, async ({ client, options }) => ({
      nodes: drawPrompt(await client.call("prompts/get", { name: prompt.name, arguments: given }, options), actions(app)),
    })));
  show(app, "prompt", prompt, ...nodes);
}

export function showResource(app, resource) {
  const { nodes, submit } = form("Read", { element: h("div"), read: () => resource.uri }, watching(app, resource), read(app));
  show(app, "resource", resource, ...nodes);
  app.watching = { uri: resource.uri, submit };
}

// Variables that are written into the URI here; whatever else a template has is written by hand.
export function showTemplate(app, template) {
  const names = [...new Set([...template.uriTemplate.matchAll(/\{\+?([A-Za-z0-9_.]+)\}/g)].map(([, name]) => name))];
  const parts = fields({ properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])) });
  const uri = h("input", { id: uniqueId("uri"), value: template.uriTemplate, autocomplete: "off" });
  const expand = () => {
    const given = parts.read();
    uri.value = template.uriTemplate.replace(/\{(\+?)([A-Za-z0-9_.]+)\}/g, (whole, plus, name) =>
      given[name] === undefined ? whole : plus ? encodeURI(given[name]) : encodeURIComponent(given[name]));
  };
  parts.element.addEventListener("input", expand);
  const element = h("div", null, names.length > 0 && parts.element, h("div", { class: "field" }, h("label", { for: uri.id }, "URI"), uri));
  const { nodes } = form("Read", { element, read: () => uri.value }, null, read(app));
  show(app, "resource template", template, ...nodes);
}

function read(app) {
  return (uri, area) => run(app.clients, area, async ({ client, options }) => ({
    nodes: drawContents(await client.call("resources/read", { uri }, options)),
  }));
}

// Subscribes to the resource with every client.
function watching(app, { uri }) {
  const is = () => app.clients.some((client) => client.watched.has(uri));
  const label = () => (is() ? "Unsubscribe" : "Subscribe");
  const toggle = button(label(), async () => {
    const on = !is();
    const results = await Promise.allSettled(app.clients.map((client) => client.watch(uri, on)));
    for (const { reason } of results) if (reason) app.frames.tell(app.clients[0], "subscription", { reason: reason.message });
    toggle.textContent = label();
  });
  return toggle;
}

function actions(app) {
  return { read: (uri) => showResource(app, app.resources.find((one) => one.uri === uri) ?? { name: uri, uri }), rows: app.rows };
}
