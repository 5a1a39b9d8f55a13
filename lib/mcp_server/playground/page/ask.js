// What a server asks its client, answered by hand: one question after the other.

import { button, h, uniqueId } from "./dom.js";
import { fields, parse } from "./form.js";
import { drawBlock } from "./result.js";
import { tree } from "./table.js";
import { Refused } from "./client.js";

let before = Promise.resolve();

// The result of the request, or a `Refused` that declines it.
export function ask(client, method, params) {
  const answer = before.then(() => open(client, method, params));
  before = answer.catch(() => {});
  return answer;
}

function open(client, method, params) {
  if (method === "elicitation/create") return elicitation(client, params);
  if (method === "sampling/createMessage") return sampling(client, params);
  return other(client, method, params);
}

// A dialog with these buttons; each gives the answer, or throws what is wrong with it. Escape is the last one's.
function dialog(client, title, content, choices) {
  return new Promise((resolve, reject) => {
    const id = uniqueId("dialog");
    const mistake = h("p", { class: "failure", role: "alert" });
    const choose = (answer) => {
      let given;
      try {
        given = answer();
      } catch (error) {
        if (!(error instanceof Refused)) return (mistake.textContent = error.message);
        given = error;
      }
      element.close();
      element.remove();
      return given instanceof Refused ? reject(given) : resolve(given);
    };
    const submit = (event) => {
      event.preventDefault();
      choose(choices[0].answer);
    };
    const buttons = choices.map(({ label, answer }, index) =>
      index === 0 ? h("button", { class: "primary" }, label) : button(label, () => choose(answer)));
    const element = h("dialog", { "aria-labelledby": id },
      h("form", { novalidate: true, onsubmit: submit },
        h("h2", { id }, title), h("p", { class: "type" }, `asked in ${client.revision}`),
        content, mistake, h("div", { class: "bar end" }, ...buttons)));
    element.addEventListener("cancel", (event) => {
      event.preventDefault();
      choose(choices.at(-1).answer);
    });
    document.body.append(element);
    element.showModal();
  });
}

function elicitation(client, { message, requestedSchema, mode, url }) {
  const form = mode === "url" ? undefined : fields(requestedSchema);
  const content = [h("p", null, message), form ? form.element : link(url)];
  const accept = () => (form ? { action: "accept", content: form.read() } : { action: "accept" });
  return dialog(client, "The server asks", content, [
    { label: "Accept", answer: accept },
    { label: "Decline", answer: () => ({ action: "decline" }) },
    { label: "Cancel", answer: () => ({ action: "cancel" }) },
  ]);
}

// Of a server nobody knows: only what a browser opens as a page.
function link(url) {
  const href = /^https?:\/\//i.test(url) ? url : null;
  return h("p", null, href ? h("a", { href, target: "_blank", rel: "noopener noreferrer" }, url) : h("code", null, url));
}

function sampling(client, { messages, ...rest }) {
  const [text, model] = [uniqueId("field"), uniqueId("field")];
  const answer = h("textarea", { id: text, rows: 4 });
  const name = h("input", { id: model, value: "by hand" });
  const content = [
    ...messages.map(({ role, content }) =>
      h("section", { class: "message" }, h("h3", null, role), [content].flat().map((block) => drawBlock(block, { read: () => {} })))),
    tree(rest, "request", 2),
    h("div", { class: "field" }, h("label", { for: text }, "Answer of the model"), answer),
    h("div", { class: "field" }, h("label", { for: model }, "Name of the model"), name),
  ];
  const result = () => ({ role: "assistant", content: { type: "text", text: answer.value }, model: name.value, stopReason: "endTurn" });
  return dialog(client, "The server asks the model", content, [{ label: "Answer", answer: result }, { label: "Decline", answer: declined }]);
}

function other(client, method, params) {
  const id = uniqueId("field");
  const answer = h("textarea", { id, rows: 5, spellcheck: "false", value: method === "roots/list" ? '{\n  "roots": []\n}' : "{}" });
  const content = [tree(params, "request"), h("div", { class: "field" }, h("label", { for: id }, "Result as JSON"), answer)];
  const result = () => parse(answer.value, "the result");
  return dialog(client, method, content, [{ label: "Answer", answer: result }, { label: "Decline", answer: declined }]);
}

function declined() {
  throw new Refused({ code: -1, message: "the user declined" });
}
