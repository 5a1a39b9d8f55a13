// Rows as a table, and JSON as a tree.

import { h, part } from "./dom.js";

export const isTable = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((row) => row && typeof row === "object" && !Array.isArray(row));

export function table(rows, caption, columns) {
  const names = columns?.map(({ name }) => name) ?? [...new Set(rows.slice(0, 50).flatMap((row) => Object.keys(row)))];
  const head = h("tr", null, ...names.map((name) => h("th", { scope: "col" }, name)));
  const body = h("tbody");
  for (const row of rows) {
    const line = document.createElement("tr");
    for (const name of names) cell(line.insertCell(), row[name]);
    body.append(line);
  }
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", null, h("caption", null, caption), h("thead", null, head), body));
}

function cell(element, value) {
  if (typeof value === "number") element.className = "number";
  element.textContent = value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
}

// Objects and lists can be opened; lists of objects are tables.
export function tree(value, name, depth = 0) {
  if (value === null || typeof value !== "object") return leaf(name, value);
  const entries = Object.entries(value);
  const count = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  const title = [name !== undefined && h("span", { class: "key" }, `${name} `), h("span", { class: "type" }, count)];
  if (isTable(value)) return part(title, depth < 2, table(value, `${name ?? "list"}: ${value.length} rows`));
  let drawn = false;
  const holder = h("div", { class: "tree" });
  const draw = () => {
    if (drawn) return;
    drawn = true;
    holder.append(...entries.map(([key, member]) => tree(member, key, depth + 1)));
  };
  const open = depth < 2 && entries.length <= 100;
  if (open) draw();
  const element = part(title, open, holder);
  element.addEventListener("toggle", draw);
  return element;
}

function leaf(name, value) {
  const kind = value === null ? "null" : typeof value;
  return h("div", { class: "leaf" },
    name !== undefined && h("span", { class: "key" }, `${name}: `), h("span", { class: `value ${kind}` }, JSON.stringify(value)));
}
