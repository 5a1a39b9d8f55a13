// Forms made from JSON Schemas. Nothing is checked here but JSON's syntax: what is wrong is for the server to say.

import { button, h, uniqueId } from "./dom.js";

const inputTypes = { email: "email", uri: "url", date: "date", time: "time" };

// A form's fields: `element`, and `read()` gives the value or throws an Error that says what is no JSON.
export function fields(schema) {
  const root = schema ?? {};
  const parts = object(root, root, 0);
  const json = h("textarea", { rows: 8, spellcheck: "false", "aria-label": "Arguments as JSON" });
  const asJson = h("input", { type: "checkbox", id: uniqueId("json"), onchange: toggle });
  const area = h("div", { class: "fields" }, ...parts.elements);

  function toggle() {
    if (asJson.checked) json.value = JSON.stringify(parts.read() ?? {}, null, 2);
    area.replaceChildren(...(asJson.checked ? [json] : parts.elements));
  }

  return {
    element: h("div", null, area, h("label", { class: "inline", for: asJson.id }, asJson, "as JSON")),
    read: () => (asJson.checked ? parse(json.value, "the arguments") : parts.read() ?? {}),
  };
}

function object(schema, root, depth) {
  const required = new Set(schema.required ?? []);
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => ({
    name,
    ...field(name, resolve(member, root), root, required.has(name), depth),
  }));
  const read = () => {
    const found = members.map(({ name, read }) => [name, read()]).filter(([, value]) => value !== undefined);
    return found.length > 0 ? Object.fromEntries(found) : undefined;
  };
  return { elements: members.map(({ element }) => element), read };
}

// The schema behind a local reference, and the type that is not null of several.
function resolve(schema, root, depth = 0) {
  if (typeof schema !== "object" || schema === null) return {};
  if (typeof schema.$ref === "string" && schema.$ref.startsWith("#/") && depth < 16) {
    const path = schema.$ref.slice(2).split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    return resolve(path.reduce((inner, key) => inner?.[key], root), root, depth + 1);
  }
  if (!Array.isArray(schema.type)) return schema;
  const types = schema.type.filter((type) => type !== "null");
  return { ...schema, type: types.length === 1 ? types[0] : undefined };
}

function field(name, schema, root, required, depth) {
  const described = { name, schema, required, id: uniqueId("field") };
  const values = choices(schema);
  if (values) return choice(described, values);
  if (schema.type === "boolean") return boolean(described);
  if (schema.type === "string") return text(described);
  if (schema.type === "integer" || schema.type === "number") return number(described);
  if (schema.type === "object" && schema.properties && depth < 5) return group(described, object(schema, root, depth + 1), required);
  const items = schema.type === "array" && resolve(schema.items, root);
  if (items && choices(items)) return several(described, choices(items));
  if (items && items.type && depth < 5) return list(described, items, root, depth);
  return anything(described);
}

// The values of an enumeration, with their titles.
function choices({ enum: values, enumNames, oneOf, anyOf }) {
  if (values) return values.map((value, index) => ({ value, title: enumNames?.[index] ?? shown(value) }));
  const titled = oneOf ?? anyOf;
  if (!titled?.every((one) => one && "const" in one)) return undefined;
  return titled.map(({ const: value, title }) => ({ value, title: title ?? shown(value) }));
}

const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));

function labelled({ name, schema, required, id }, input) {
  const hint = schema.description && h("small", { id: `${id}-hint` }, schema.description);
  if (hint) input.setAttribute("aria-describedby", hint.id);
  return h("div", { class: "field" },
    h("label", { for: id }, schema.title ?? name, mark(required), h("span", { class: "type" }, typeName(schema))), hint, input);
}

const mark = (required) => required && h("span", { class: "required" }, " (required)");
const typeName = ({ type, format }) => [type, format].filter(Boolean).join(", ");

function choice(described, values) {
  const { schema, id } = described;
  // Nothing is sent that was not chosen.
  const first = h("option", { value: "" }, "");
  const options = values.map(({ value, title }, index) =>
    h("option", { value: String(index), selected: same(value, schema.default) }, title));
  const select = h("select", { id }, first, ...options);
  return { element: labelled(described, select), read: () => values[select.value]?.value };
}

function boolean(described) {
  const values = [true, false].map((value) => ({ value, title: String(value) }));
  return choice(described, values);
}

function text(described) {
  const { schema, id } = described;
  const attributes = { id, value: schema.default ?? "", autocomplete: "off" };
  const input = schema.maxLength > 120 || schema.contentMediaType
    ? h("textarea", { ...attributes, rows: 3 })
    : h("input", { ...attributes, type: inputTypes[schema.format] ?? "text" });
  // An empty text is not told apart from none; JSON can.
  return { element: labelled(described, input), read: () => (input.value === "" ? undefined : input.value) };
}

function number(described) {
  const { schema, id } = described;
  const attributes = { id, type: "number", step: "any", value: schema.default ?? "", autocomplete: "off" };
  const input = h("input", { ...attributes, min: schema.minimum, max: schema.maximum });
  return { element: labelled(described, input), read: () => (input.value === "" ? undefined : Number(input.value)) };
}

function group({ name, schema }, { elements, read }, required) {
  const legend = h("legend", null, schema.title ?? name, mark(required));
  return {
    element: h("fieldset", null, legend, schema.description && h("small", null, schema.description), ...elements),
    read: () => read() ?? (required ? {} : undefined),
  };
}

function several(described, values) {
  const { schema, required } = described;
  const boxes = values.map(({ value, title }) => {
    const id = uniqueId("box");
    const checked = schema.default?.some((one) => same(one, value));
    const box = h("input", { type: "checkbox", id, checked });
    return { value, box, element: h("label", { class: "inline", for: id }, box, title) };
  });
  const chosen = () => boxes.filter(({ box }) => box.checked).map(({ value }) => value);
  const found = group(described, { elements: boxes.map(({ element }) => element), read: () => undefined }, required);
  return { element: found.element, read: () => (chosen().length > 0 || required ? chosen() : undefined) };
}

function list(described, items, root, depth) {
  const { name, schema, required } = described;
  const entries = new Set();
  const holder = h("div", { class: "entries" });
  const add = (value) => {
    const item = field(items.title ?? `${name} ${entries.size + 1}`, { ...items, default: value ?? items.default }, root, true, depth + 1);
    const entry = { read: item.read };
    const remove = button("Remove", () => {
      entries.delete(entry);
      row.remove();
    });
    const row = h("div", { class: "entry" }, item.element, remove);
    entries.add(entry);
    holder.append(row);
  };
  for (const value of Array.isArray(schema.default) ? schema.default : []) add(value);
  const read = () => {
    const values = [...entries].map((entry) => entry.read()).filter((value) => value !== undefined);
    return values.length > 0 || required ? values : undefined;
  };
  const { element } = group(described, { elements: [holder, button(`Add to ${name}`, () => add())], read }, required);
  return { element, read };
}

function anything(described) {
  const { name, schema, id } = described;
  const value = schema.default === undefined ? "" : JSON.stringify(schema.default, null, 2);
  const input = h("textarea", { id, rows: 3, spellcheck: "false", placeholder: "JSON", value });
  return {
    element: labelled(described, input),
    read: () => (input.value.trim() === "" ? undefined : parse(input.value, name)),
  };
}

export function parse(text, what) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${what}: ${error.message}`);
  }
}

const same = (one, other) => other !== undefined && JSON.stringify(one) === JSON.stringify(other);
