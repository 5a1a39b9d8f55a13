// Elements without markup: nothing that a server sends is ever parsed as HTML.

let last = 0;

export const uniqueId = (prefix) => `${prefix}-${(last += 1)}`;
export const byId = (id) => document.getElementById(id);

// An element. Attributes that begin with `on` are listeners; those that are null, undefined or false are left out.
export function h(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...drawn(children));
  return element;
}

const drawn = (children) => children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);

// Puts these in the place of what an element has.
export const fill = (element, ...children) => element.replaceChildren(...drawn(children));

// A name that may be broken where its words end.
export const name = (text) => text.split(/(?<=[_./-])/).flatMap((word) => [word, h("wbr")]);

export const button = (label, onclick, attributes) => h("button", { type: "button", onclick, ...attributes }, label);

// A part that can be closed.
export const part = (title, open, ...children) =>
  h("details", { open }, h("summary", null, title), ...children);

// What screen readers say aloud.
export function say(text) {
  byId("status").textContent = text;
}
