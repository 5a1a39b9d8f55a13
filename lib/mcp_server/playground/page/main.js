// The page: connects, lists, and shows what is chosen.

import { ask } from "./ask.js";
import { Client } from "./client.js";
import { button, byId, fill, h, name, say, uniqueId } from "./dom.js";
import { findings, showPrompt, showResource, showTemplate, showTool } from "./detail.js";
import { Frames } from "./frames.js";
import { tellRunning } from "./run.js";

const [newest, lastOfSessions] = ["2026-07-28", "2025-11-25"];
const revisions = [newest, lastOfSessions, "2025-06-18", "2025-03-26", "2024-11-05"];
const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const capabilities = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: {},
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
};

const kinds = [
  { title: "Tools", kind: "tool", method: "tools/list", member: "tools", needs: "tools", show: showTool },
  { title: "Prompts", kind: "prompt", method: "prompts/list", member: "prompts", needs: "prompts", show: showPrompt },
  { title: "Resources", kind: "resource", method: "resources/list", member: "resources", needs: "resources", show: showResource },
  { title: "Templates", kind: "resource template", method: "resources/templates/list", member: "resourceTemplates", needs: "resources", show: showTemplate },
];

const app = { clients: [], frames: new Frames(), about: null, authorization: "", logLevel: "", revision: newest };

// Where this page is mounted, and below it, with the token, everything that does something.
const base = new URL("..", location.href);
let token = takeToken();
const url = (path) => new URL(path, base);

// The address is on screens and in bookmarks: the token stays in this tab only.
function takeToken() {
  const given = location.hash.slice(1);
  if (/^[\w-]{16,}$/.test(given)) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem("token");
}

addEventListener("hashchange", () => {
  if (/^#[\w-]{16,}$/.test(location.hash)) location.reload();
});

// A server holds a number of sessions only, and each reload would leave one.
addEventListener("pagehide", () => app.clients.forEach((client) => client.close()));

async function begin() {
  const response = token && (await fetch(`${token}/about`));
  if (!response || response.status === 403) return askToken(response && "The server has printed another token.");
  if (!response.ok) return fail(new Error(`the playground answers with status ${response.status}`));
  app.about = await response.json();
  app.rows = app.about.rows ? rows : undefined;
  document.title = `${app.about.router}: MCP playground`;
  fill(byId("toolbar"), toolbar());
  fill(byId("messages"), app.frames.element);
  return connect();
}

function askToken(refusal) {
  const id = uniqueId("token");
  const input = h("input", { id, type: "password", autocomplete: "off", required: true });
  const submit = (event) => {
    event.preventDefault();
    token = input.value;
    sessionStorage.setItem("token", token);
    begin().catch(fail);
  };
  fill(byId("main"),
    h("h2", null, "Which token?"),
    h("p", null, "This page needs the token that the server has printed, behind the # of the address."),
    refusal && h("p", { class: "failure", role: "alert" }, refusal),
    h("form", { onsubmit: submit }, h("div", { class: "field" }, h("label", { for: id }, "Token"), input), h("button", { class: "primary" }, "Go on")));
}

function fail(error) {
  const access = document.querySelector(".access");
  if (access && error.status === 401) access.open = true;
  fill(byId("main"),
    h("h2", null, "No connection"),
    h("p", { class: "failure", role: "alert" }, error.message),
    error.status === 401 && h("p", null, "The server wants an access token. Give it one above, under Access token."),
    button("Try again", () => begin().catch(fail)));
}

async function connect() {
  for (const client of app.clients) client.close();
  const chosen = app.revision === "both" ? [newest, lastOfSessions] : [app.revision];
  app.clients = chosen.map((revision) => new Client({
    revision, capabilities, logLevel: app.logLevel, endpoint: url(`${token}/mcp`),
    authorization: () => app.authorization && `Bearer ${app.authorization}`,
    onframe: (frame) => app.frames.add(frame), onnotification: told, onask: ask,
  }));
  await Promise.all(app.clients.map((client) => client.open()));
  if (app.logLevel) await Promise.all(app.clients.map((client) => client.setLogLevel(app.logLevel)));
  const { serverInfo, instructions } = app.clients[0].server;
  byId("server").textContent = [serverInfo?.title ?? serverInfo?.name ?? app.about.router, serverInfo?.version].filter(Boolean).join(" ");
  await load();
  welcome(instructions);
}

async function load() {
  // Every client has to know which arguments headers repeat.
  for (const other of app.clients.slice(1)) await other.list("tools/list", "tools");
  const [client] = app.clients;
  for (const { method, member, needs } of kinds)
    app[member] = client.server.capabilities?.[needs] ? await client.list(method, member) : [];
  navigation();
}

function told(client, method, params) {
  if (method !== "notifications/progress") app.frames.tell(client, method, params);
  tellRunning(client, method, params);
  if (client !== app.clients[0]) return;
  if (method.endsWith("/list_changed")) load().catch(fail);
  if (method === "notifications/resources/updated" && app.watching?.uri === params.uri) app.watching.submit();
}

function welcome(instructions) {
  const counts = kinds.map(({ title, member }) => `${app[member].length} ${title.toLowerCase()}`).join(", ");
  const general = findings(app, "server", app.about.lint.find(({ kind }) => kind === "server")?.name);
  fill(byId("main"),
    h("h2", null, "Choose what to try"), h("p", null, `${app.about.router} has ${counts}.`),
    instructions && h("p", null, instructions),
    h("p", { class: "type" }, `Lint has ${app.about.lint.length} findings; those of one tool stand beside it.`),
    general.length > 0 && h("ul", null, ...general.map(({ code, message }) => h("li", null, h("strong", null, code), ` ${message}`))));
  say(`Connected: ${counts}`);
}

function navigation() {
  const filter = h("input", { type: "search", id: "filter", placeholder: "Filter", "aria-label": "Filter by name", oninput: sift });
  const groups = kinds.map(({ title, kind, member, show }) => {
    const items = app[member].map((item) => h("li", null, entry(kind, item, show)));
    return items.length > 0 && [h("h2", null, `${title} (${items.length})`), h("ul", null, ...items)];
  });
  fill(byId("nav"), filter, groups);
}

function entry(kind, item, show) {
  const found = findings(app, kind, item.name);
  const label = [h("span", null, name(item.name)), found.length > 0 && h("span", { class: "count", title: `${found.length} lint findings` }, String(found.length), h("span", { class: "hidden" }, " lint findings"))];
  return button(label, ({ currentTarget }) => {
    document.querySelector("#nav [aria-current]")?.removeAttribute("aria-current");
    currentTarget.setAttribute("aria-current", "true");
    app.watching = null;
    show(app, item);
  }, { title: item.description });
}

function sift({ target }) {
  const wanted = target.value.toLowerCase();
  for (const item of document.querySelectorAll("#nav li")) item.hidden = !item.textContent.toLowerCase().includes(wanted);
}

addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, select, dialog")) return;
  event.preventDefault();
  byId("filter")?.focus();
});

function toolbar() {
  const again = () => begin().catch(fail);
  const protocol = chooser("Protocol", [...revisions.map((one) => [one, one]), ["both", "both eras"]], app.revision, (value) => {
    app.revision = value;
    again();
  });
  const log = chooser("Log", [["", "as the server likes"], ...levels.map((one) => [one, one])], app.logLevel, (value) => {
    app.logLevel = value;
    for (const client of app.clients) client.setLogLevel(value).catch(fail);
  });
  return [protocol, log, access(again), button("Reconnect", again), button("Dark or light", theme)];
}

function chooser(label, options, chosen, onchoice) {
  const id = uniqueId("choice");
  const select = h("select", { id, onchange: () => onchoice(select.value) },
    ...options.map(([value, title]) => h("option", { value, selected: value === chosen }, title)));
  return h("div", { class: "inline" }, h("label", { for: id }, label), select);
}

// The access token: typed in, or made by the test issuer.
function access(again) {
  const ids = [uniqueId("access"), uniqueId("access"), uniqueId("access")];
  const input = h("input", { id: ids[0], autocomplete: "off", spellcheck: "false", value: app.authorization });
  const use = () => {
    app.authorization = input.value.trim();
    again();
  };
  const subject = h("input", { id: ids[1], value: "ada" });
  const scopes = h("input", { id: ids[2], placeholder: "files:read files:write" });
  const mint = async () => {
    const body = JSON.stringify({ subject: subject.value, scopes: scopes.value });
    const response = await fetch(`${token}/token`, { method: "POST", body, headers: { "content-type": "application/json" } });
    input.value = (await response.json()).token;
    use();
  };
  const field = (id, label, element) => h("div", { class: "field" }, h("label", { for: id }, label), element);
  return h("details", { class: "access" }, h("summary", null, "Access token"),
    h("div", { class: "popup" }, field(ids[0], "Bearer", input), button("Use", use),
      app.about.mints && [field(ids[1], "Subject", subject), field(ids[2], "Scopes", scopes), button("Make a token", mint)]));
}

function theme() {
  const { dataset } = document.documentElement;
  const isDark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  dataset.theme = isDark ? "light" : "dark";
  dispatchEvent(new Event("themechange"));
}

// All rows of a stored result, one a line; the last line says whether they are all.
async function rows(id) {
  const headers = { accept: "application/x-ndjson", "content-type": "application/json" };
  if (app.authorization) headers.authorization = `Bearer ${app.authorization}`;
  const response = await fetch(url(`${token}/rows/${encodeURIComponent(id)}`), { method: "POST", headers, body: "{}" });
  const text = await response.text();
  if (!response.ok) throw new Error(JSON.parse(text).message);
  const lines = text.trimEnd().split("\n").map((line) => JSON.parse(line));
  const end = lines.pop();
  if (end.$end !== true) throw new Error(`not all rows came: ${end.$error?.code}`);
  return lines;
}

begin().catch(fail);
