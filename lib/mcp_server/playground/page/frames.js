// Every message of both directions, and what the server says unasked.

import { button, h } from "./dom.js";

const most = 500;

export class Frames {
  #list = h("ol", { class: "frames" });
  #count = h("span", null, "0");
  #news = h("ol", { class: "news" });
  #total = 0;

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
    const details = h("details", null,
      h("summary", null,
        h("span", { class: `arrow ${direction}`, role: "img", "aria-label": direction }, direction === "sent" ? "→" : "←"),
        ` ${title(message)} `,
        h("span", { class: "type" }, [client.revision, size(text), ms === undefined ? "" : `${ms.toFixed(1)} ms`].filter(Boolean).join(" · "))));
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

function title({ method, id, error, params, result }) {
  if (method) return [method, params?.name ?? params?.uri].filter(Boolean).join(" ");
  if (error) return `error ${error.code}${id === undefined ? "" : ` to ${id}`}`;
  return `result${result?.resultType && result.resultType !== "complete" ? ` (${result.resultType})` : ""} to ${id}`;
}

const size = (text) => (text.length < 1024 ? `${text.length} B` : `${(text.length / 1024).toFixed(1)} KiB`);
