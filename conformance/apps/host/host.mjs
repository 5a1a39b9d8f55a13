// A host, of nothing but official parts: the MCP client and the AppBridge. The check calls the functions of
// `window.host`, and looks at `host.calls`.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  AppBridge,
  PostMessageTransport,
  RESOURCE_MIME_TYPE,
  getToolUiResourceUri,
  isToolVisibilityModelOnly,
} from "@modelcontextprotocol/ext-apps/app-bridge";

const me = { name: "check", version: "1.0.0" };
const variables = { light: "#fffbe6", dark: "#101820" };
const context = (theme) => ({
  theme,
  displayMode: "inline",
  styles: { variables: { "--color-background-primary": variables[theme] } },
});

let client, bridge, tools, served;
const calls = [];

// Meets the server as a client that renders views, or as one that does not.
async function meet({ era, renders }) {
  const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: [RESOURCE_MIME_TYPE] } };
  client = new Client(me, {
    capabilities: renders ? { extensions } : {},
    versionNegotiation: { mode: era === "legacy" ? "legacy" : "auto" },
  });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", location.href)));
  ({ tools } = await client.listTools());
  return {
    protocol: client.getNegotiatedProtocolVersion(),
    extensions: client.getServerCapabilities().extensions,
    tools: tools.map(({ name, _meta }) => ({ name, ui: _meta?.ui ?? null })),
  };
}

const leave = () => client.close();

async function call(name, args) {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
  return { content, structuredContent, isError };
}

// What the tool's view is and what it declares.
async function read(name) {
  const uri = getToolUiResourceUri(tools.find((tool) => tool.name === name));
  const { contents } = await client.readResource({ uri });
  [served] = contents;
  const { text, ...rest } = served;
  return { uri, count: contents.length, content: rest, isDocument: text.startsWith("<!DOCTYPE html>") };
}

// A view and its tools that no server is asked for: `answers` has what each tool answers.
function take(text, answers) {
  served = { text };
  tools = Object.keys(answers).map((name) => ({ name }));
  client = { callTool: async ({ name }) => answers[name] };
}

// Frames the view that was read, tells it of a call and of its result, and answers what it asks for.
async function show({ sandbox, theme, input, result }) {
  document.querySelector("iframe")?.remove();
  calls.length = 0;
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts allow-same-origin";
  bridge = new AppBridge(null, me, { serverTools: {} }, { hostContext: context(theme) });
  bridge.oncalltool = asked;
  const isReady = new Promise((resolve) => {
    addEventListener("message", function listener({ source, data }) {
      if (source !== frame.contentWindow || data.method !== "ui/notifications/sandbox-proxy-ready") return;
      removeEventListener("message", listener);
      resolve();
    });
  });
  document.body.append(frame);
  frame.src = sandbox;
  await isReady;
  const isInitialized = new Promise((resolve) => (bridge.oninitialized = resolve));
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await bridge.sendSandboxResourceReady({ html: served.text, csp: served._meta?.ui?.csp });
  await isInitialized;
  await bridge.sendToolInput({ arguments: input });
  await bridge.sendToolResult(result);
  return bridge.getAppVersion();
}

// The view calls a tool of its server. A host has to refuse those that are for the model only.
async function asked({ name, arguments: args }) {
  const tool = tools.find((known) => known.name === name);
  const isAllowed = tool !== undefined && !isToolVisibilityModelOnly(tool);
  calls.push({ name, arguments: args, isAllowed });
  if (!isAllowed) throw new Error(`the view may not call ${name}`);
  return client.callTool({ name, arguments: args });
}

const darken = () => bridge.setHostContext(context("dark"));

window.host = { meet, leave, call, read, take, show, darken, calls };
