// Every message of both directions, and what the server says unasked.

import { button, h } from "./dom.js";

const most = 500;

export class Frames {
  #list = h("ol", { class: "frames" });
  #count = h("span", null, "0");
  #news = h("ol", { class: "news" });
  #total = 0;
  #asked = new WeakMap();

  get element() {
    const clear = (list) => () => list.replaceChildren();
    return [
      h("section", null,
        h("div", { class: "bar" }, h("h2", null, "Notifications"), button("Clear", clear(this.#news), { "aria-label": "Clear the notifications" })),
        this.#news),
      h("section", null,
        h("div", { class: "bar" }, h("h2", null, "Messages (", this.#count, ")"), button("Clear", clear(this.#list), { "aria-label": "Clear the messages" })),
        this.#list),
    ];
  }

  add({ client, direction, message, ms }) {
    this.#count.textContent = String((this.#total += 1));
    const text = JSON.stringify(message);
    const asked = this.#asked.get(client) ?? new Map();
    this.#asked.set(client, asked);
    // Both sides number their requests.
    const answers = message.method ? undefined : asked.get(`${direction === "sent" ? "received" : "sent"} ${message.id}`);
    if (message.method && message.id !== undefined) asked.set(`${direction} ${message.id}`, message.method);
    const details = h("details", null,
      h("summary", null,
        h("span", { class: `arrow ${direction}`, role: "img", "aria-label": direction }, direction === "sent" ? "→" : "←"),
        ` ${title(message, answers)} `,
        h("span", { class: "type" }, [client.revision, size(new Blob([text]).size), ms === undefined ? "" : `${ms.toFixed(1)} ms`].filter(Boolean).join(" · "))));
    details.addEventListener("toggle", () => details.append(h("pre", { tabindex: "0" }, JSON.stringify(message, null, 2))), { once: true });
    prepend(this.#list, h("li", { class: message.error ? "failed" : "" }, details));
  }

  tell(client, method, params) {
    const { level, data, uri, progress, total, message, reason } = params;
    const words = level ? `${level}: ${typeof data === "string" ? data : JSON.stringify(data)}`
      : uri ?? (progress === undefined ? reason ?? "" : [progress, total && `of ${total}`, message].filter((one) => one !== undefined).join(" "));
    prepend(this.#news, h("li", null, h("strong", null, method.replace("notifications/", "")), ` ${words} `, h("span", { class: "type" }, client.revision)));
  }
}

function prepend(list, item) {
  list.prepend(item);
  while (list.childElementCount > most) list.lastElementChild.remove();
}

function title({ method, error, params, result }, answers) {
  if (method) return [method, params?.name ?? params?.uri].filter(Boolean).join(" ");
  const what = error ? `error ${error.code}` : result?.resultType === "complete" ? "result" : (result?.resultType ?? "result");
  return answers ? `${what} of ${answers}` : what;
}

const size = (bytes) => (bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} KiB`);
