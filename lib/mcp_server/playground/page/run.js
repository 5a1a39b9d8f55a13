// One request in each era that is chosen, side by side: how far it is, what came of it, how long it took.

import { button, fill, h, say } from "./dom.js";

const running = new Map();
let last = 0;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Runs `work({ client, column, options })` for each client and draws the nodes that it gives.
export function run(clients, area, work) {
  area.replaceChildren(...clients.map((client) => new Column(client).start(work)));
}

// Progress and log messages, which belong to no answer.
export function tellRunning(client, method, params) {
  for (const column of running.values()) {
    if (column.client !== client) continue;
    if (method === "notifications/progress" && params.progressToken === column.token) column.progress(params);
    if (method === "notifications/message") column.log(params);
    if (method === "notifications/tasks/status") column.say(`task ${params.status}`);
  }
}

class Column {
  constructor(client) {
    this.client = client;
    this.token = `progress-${(last += 1)}`;
    this.aborting = new AbortController();
    this.oncancel = null;
    this.state = h("span", { class: "type" }, "running");
    this.bar = h("progress", { "aria-label": "Progress", hidden: true });
    this.words = h("p", { class: "type" });
    this.logs = h("ul", { class: "logs" });
    this.body = h("div");
    this.cancel = button("Cancel", () => (this.oncancel ? this.oncancel() : this.aborting.abort()));
    this.element = h("section", { class: "column", "aria-label": `Result in ${client.revision}` },
      h("div", { class: "bar" }, h("h3", null, client.revision), this.state, this.cancel),
      this.bar, this.words, this.logs, this.body);
  }

  start(work) {
    this.#run(work);
    return this.element;
  }

  async #run(work) {
    running.set(this.token, this);
    const begin = performance.now();
    const options = { progress: this.token, signal: this.aborting.signal };
    try {
      const drawn = await work({ client: this.client, column: this, options });
      this.#finish(drawn.failed ? "failed" : "done", begin, drawn.nodes);
    } catch (error) {
      const cancelled = this.aborting.signal.aborted;
      this.#finish(cancelled ? "cancelled" : "refused", begin, !cancelled && refusal(error));
    }
  }

  #finish(state, begin, nodes) {
    running.delete(this.token);
    this.cancel.remove();
    this.bar.hidden = true;
    this.state.textContent = `${state}, ${(performance.now() - begin).toFixed(1)} ms`;
    this.element.dataset.state = state;
    fill(this.body, nodes);
    say(`${this.client.revision}: ${state}`);
  }

  progress({ progress, total, message }) {
    this.bar.hidden = false;
    if (total !== undefined) Object.assign(this.bar, { max: total, value: progress });
    this.say([total === undefined ? progress : `${progress} of ${total}`, message].filter((one) => one !== undefined).join(": "));
  }

  say(text) {
    this.words.textContent = text;
  }

  log({ level, logger, data }) {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    this.logs.append(h("li", { class: level }, h("strong", null, [level, logger].filter(Boolean).join(" ")), ` ${text}`));
  }
}

function refusal({ message, code, data }) {
  return h("div", { class: "failure", role: "alert" },
    h("p", null, code === undefined ? message : `${message} (${code})`),
    data !== undefined && h("pre", { tabindex: "0" }, JSON.stringify(data, null, 2)));
}

// The result of a tool's call; one that goes on as a task is followed until it ends.
export async function callTool({ client, column, options }, params, task) {
  const result = await client.call("tools/call", params, { ...options, task });
  const started = result.resultType === "task" ? result : result.task;
  return started ? follow(client, column, started) : result;
}

async function follow(client, column, started) {
  const { taskId } = started;
  column.oncancel = () => client.call("tasks/cancel", { taskId }).catch((error) => column.say(error.message));
  // In the session era the server asks on the stream of this request, and only there.
  const result = client.stateless ? null : client.call("tasks/result", { taskId });
  result?.catch(() => {});
  for (let task = started; ; task = await client.call("tasks/get", { taskId })) {
    column.say(["task", taskId, task.status, task.statusMessage].filter(Boolean).join(" "));
    if (task.status === "completed") return result ?? task.result;
    if (task.status === "failed" && !task.error) return result ?? task.result;
    if (task.status === "failed") throw task.error;
    if (task.status === "cancelled") throw new Error("the task was cancelled");
    if (task.status === "input_required" && client.stateless) {
      const inputResponses = await client.responses(task.inputRequests ?? {});
      await client.call("tasks/update", { taskId, inputResponses });
    }
    await wait(Math.min(task.pollIntervalMs ?? task.pollInterval ?? 500, 1000));
  }
}
