// The client's side of MCP in both eras, over Streamable HTTP. It tells its owner of every message, notification and
// question; see the callbacks of `Client`.

import { events } from "./events.js";
import { mirrored, parameters } from "./headers.js";

export const stateless = (revision) => revision >= "2026-07-28";

const tasks = "io.modelcontextprotocol/tasks";
const info = { name: "mcp_server playground", version: "1.0.0" };
const maxRounds = 25;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// An answer that is an error, of JSON-RPC or of HTTP.
export class Refused extends Error {
  constructor({ code, message, data }, status) {
    super(message);
    Object.assign(this, { code, data, status });
  }
}

export class Client {
  #last = 0;
  #session = null;
  #listening = null;
  #headers = new Map();

  // `authorization` gives the header's value or nothing. `onframe({ client, direction, message, ms })`,
  // `onnotification(client, method, params)`, `onask(client, method, params)` answers, or throws `Refused` to decline.
  constructor(options) {
    Object.assign(this, { server: {}, watched: new Set(), logLevel: "" }, options);
  }

  get stateless() {
    return stateless(this.revision);
  }

  async open() {
    if (this.stateless) {
      this.server = await this.call("server/discover", {});
      this.server.serverInfo ??= this.server._meta?.["io.modelcontextprotocol/serverInfo"];
    } else {
      const params = { protocolVersion: this.revision, capabilities: this.capabilities, clientInfo: info };
      this.server = await this.call("initialize", params);
      await this.#send({ jsonrpc: "2.0", method: "notifications/initialized" });
    }
    this.#listen();
    return this;
  }

  // Also while the page is left.
  close() {
    this.#listening?.abort();
    if (this.#session) fetch(this.endpoint, { method: "DELETE", headers: this.#head({}), keepalive: true }).catch(() => {});
    this.#session = null;
  }

  // Calls a method, and answers what the server asks meanwhile. Options: `signal` cancels, `progress` is the token of
  // its progress, `task` lets the call go on as a task.
  async call(method, params, options = {}) {
    let sent = params;
    for (let round = 1; ; round += 1) {
      const result = await this.#request(method, sent, options);
      if (result.resultType !== "input_required") return result;
      if (round === maxRounds) throw new Refused({ message: `the server has asked ${maxRounds} times` });
      const requests = result.inputRequests ?? {};
      const inputResponses = await this.responses(requests);
      // The server would ask the same again.
      if (Object.keys(requests).length > 0 && Object.keys(inputResponses).length === 0)
        throw new Refused({ message: "you have declined what the server needs to go on" });
      sent = { ...params, inputResponses };
      if (result.requestState !== undefined) sent.requestState = result.requestState;
    }
  }

  // The answers to what a server asks together; what is declined has none.
  async responses(requests) {
    const answers = {};
    for (const [key, { method, params }] of Object.entries(requests)) {
      try {
        answers[key] = await this.onask(this, method, params ?? {});
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
      }
    }
    return answers;
  }

  // All pages of a list.
  async list(method, member) {
    const found = [];
    let cursor;
    do {
      const page = await this.call(method, cursor === undefined ? {} : { cursor });
      found.push(...page[member]);
      cursor = page.nextCursor;
    } while (cursor !== undefined && found.length < 100_000);
    if (method === "tools/list") for (const tool of found) this.#headers.set(tool.name, parameters(tool.inputSchema));
    return found;
  }

  async watch(uri, on) {
    if (on) this.watched.add(uri);
    else this.watched.delete(uri);
    if (this.stateless) this.#listen();
    else await this.call(on ? "resources/subscribe" : "resources/unsubscribe", { uri });
  }

  async setLogLevel(level) {
    this.logLevel = level;
    if (!this.stateless && level && this.server.capabilities?.logging) await this.call("logging/setLevel", { level });
  }

  // What the server says unasked: one stream at a time, opened again when what is wanted changes.
  #listen() {
    this.#listening?.abort();
    const { signal } = (this.#listening = new AbortController());
    const { tools, prompts, resources } = this.server.capabilities ?? {};
    const notifications = {
      toolsListChanged: tools?.listChanged === true,
      promptsListChanged: prompts?.listChanged === true,
      resourcesListChanged: resources?.listChanged === true,
      resourceSubscriptions: [...this.watched],
    };
    const streaming = this.stateless
      ? this.#request("subscriptions/listen", { notifications }, { signal })
      : this.#receive(this.#get(signal), null, signal);
    streaming.catch((error) => {
      if (!signal.aborted) this.onnotification(this, "the stream of notifications ended", { reason: error.message });
    });
  }

  async #request(method, params, { signal, progress, task } = {}) {
    const id = (this.#last += 1);
    const _meta = { ...params._meta, ...this.#meta(task || method.startsWith("tasks/")) };
    if (progress !== undefined) _meta.progressToken = progress;
    const message = { jsonrpc: "2.0", id, method, params: { ...params } };
    if (task && !this.stateless) message.params.task = {};
    if (Object.keys(_meta).length > 0) message.params._meta = _meta;
    const cancel = () => this.#cancel(id);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      return await this.#receive(this.#post(message, signal), { id, sent: performance.now() }, signal);
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  // In the stateless era the end of the stream says it.
  #cancel(requestId) {
    if (this.stateless) return;
    this.#send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }).catch(() => {});
  }

  #meta(task) {
    if (!this.stateless) return {};
    const { extensions, ...capabilities } = this.capabilities;
    const meta = {
      "io.modelcontextprotocol/protocolVersion": this.revision,
      "io.modelcontextprotocol/clientInfo": info,
      "io.modelcontextprotocol/clientCapabilities": {
        ...capabilities,
        extensions: task ? { ...extensions, [tasks]: {} } : extensions,
      },
    };
    if (this.logLevel) meta["io.modelcontextprotocol/logLevel"] = this.logLevel;
    return meta;
  }

  #head(message) {
    const head = { accept: "application/json, text/event-stream" };
    const authorization = this.authorization();
    if (authorization) head.authorization = authorization;
    if (message.method === "initialize") return head;
    head["mcp-protocol-version"] = this.revision;
    if (this.#session) head["mcp-session-id"] = this.#session;
    return this.stateless ? { ...head, ...mirrored(message, this.#headers.get(message.params?.name) ?? []) } : head;
  }

  async #post(message, signal) {
    this.onframe({ client: this, direction: "sent", message });
    const headers = { ...this.#head(message), "content-type": "application/json" };
    const body = JSON.stringify(message);
    const response = await fetch(this.endpoint, { method: "POST", headers, body, signal: signal ?? null });
    if (message.method === "initialize" && response.ok) this.#session = response.headers.get("mcp-session-id");
    return response;
  }

  #get(signal, lastEventId) {
    const headers = this.#head({});
    if (lastEventId) headers["last-event-id"] = lastEventId;
    return fetch(this.endpoint, { headers, signal });
  }

  async #send(message) {
    const response = await this.#post(message);
    if (!response.ok) throw new Refused({ message: `status ${response.status}` }, response.status);
  }

  // The result of the request that is waited for; for none, everything until the stream ends.
  async #receive(responding, waiting, signal) {
    const response = await responding;
    const type = response.headers.get("content-type") ?? "";
    if (!type.startsWith("text/event-stream")) return this.#whole(response, type, waiting);
    let stream = response;
    for (;;) {
      let [id, retry] = [undefined, 1000];
      for await (const event of events(stream.body)) {
        id = event.id ?? id;
        retry = event.retry ?? retry;
        const answer = event.data && this.#take(JSON.parse(event.data), waiting);
        if (answer) return finish(answer);
      }
      if (this.stateless || !(id || !waiting)) throw new Refused({ message: "the stream ended before the answer" });
      // The server has hung up, and goes on where it was asked to.
      await wait(retry);
      stream = await this.#get(signal, id);
      if (!stream.ok) throw new Refused({ message: `status ${stream.status}` }, stream.status);
    }
  }

  async #whole(response, type, waiting) {
    const text = await response.text();
    if (!type.startsWith("application/json") || text === "")
      throw new Refused({ message: `status ${response.status}` }, response.status);
    const message = JSON.parse(text);
    const asked = response.headers.get("www-authenticate");
    if (asked && message.error) message.error.data ??= asked;
    return finish(this.#take(message, waiting) ?? message, response.status);
  }

  // Tells of a message, and gives it back if it is the answer.
  #take(message, waiting) {
    const isAnswer = message.method === undefined;
    const ms = isAnswer && waiting ? performance.now() - waiting.sent : undefined;
    this.onframe({ client: this, direction: "received", message, ms });
    if (isAnswer) return waiting && message.id === waiting.id ? message : undefined;
    if (message.id === undefined) this.onnotification(this, message.method, message.params ?? {});
    else this.#serve(message);
    return undefined;
  }

  // What a server of the session era asks.
  async #serve({ id, method, params }) {
    const reply = { jsonrpc: "2.0", id };
    try {
      reply.result = method === "ping" ? {} : await this.onask(this, method, params ?? {});
    } catch (error) {
      reply.error = { code: error.code ?? -32603, message: error.message };
    }
    await this.#send(reply).catch(() => {});
  }
}

function finish({ result, error }, status) {
  if (error || !result) throw new Refused(error ?? { message: `status ${status}` }, status);
  return result;
}
