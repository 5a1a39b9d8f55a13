// The view: shows what the tool `forecast` answered, and calls tools of its server when somebody works with it.

import { App, applyDocumentTheme, applyHostFonts, applyHostStyleVariables } from "@modelcontextprotocol/ext-apps";

const app = new App({ name: "forecast", version: "1.0.0" }, {});
const svg = "http://www.w3.org/2000/svg";
const element = (id) => document.getElementById(id);
let forecast;

// What the host has to say comes in as soon as the view is connected, so these are set before.
app.ontoolresult = show;
app.ontoolcancelled = ({ reason }) => say(reason ?? "Cancelled");
app.onhostcontextchanged = follow;
element("cities").onchange = (event) => call("forecast", { city: event.target.value }, show);

app.connect().then(() => follow(app.getHostContext() ?? {}), (error) => say(error.message));

function follow({ theme, styles }) {
  if (theme) applyDocumentTheme(theme);
  if (styles?.variables) applyHostStyleVariables(styles.variables);
  if (styles?.css?.fonts) applyHostFonts(styles.css.fonts);
}

// A tool of the server this view is from; the host decides whether it may be called.
async function call(name, args, then) {
  say("Asking …");
  try {
    then(await app.callServerTool({ name, arguments: args }));
  } catch (error) {
    say(error.message);
  }
}

function show({ isError, content, structuredContent }) {
  if (isError) return say(text(content));
  forecast = structuredContent;
  element("city").textContent = forecast.city;
  const options = forecast.cities.map((city) => new Option(city, city, false, city === forecast.city));
  element("cities").replaceChildren(...options);
  element("cities").disabled = false;
  element("days").replaceChildren(...forecast.days.map(dayItem));
  element("chart").hidden = true;
  say("");
}

function dayItem({ day, sky, low, high }) {
  const label = `${day}: ${sky}, ${low} to ${high} °C`;
  const button = create("button", { type: "button", "aria-pressed": "false", "aria-label": label });
  const temperatures = [create("strong", {}, `${high}°`), create("span", { class: "low" }, `${low}°`)];
  button.append(create("span", {}, day.slice(0, 3)), icon(sky), ...temperatures);
  button.onclick = () => call("hours", { city: forecast.city, day }, (result) => chart(button, result));
  const item = create("li");
  item.append(button);
  return item;
}

function chart(button, { isError, content, structuredContent }) {
  if (isError) return say(text(content));
  const { day, temperatures } = structuredContent;
  for (const other of element("days").querySelectorAll("button")) other.ariaPressed = String(other === button);
  element("day").textContent = `${day} in ${forecast.city}, every three hours`;
  element("curve").replaceChildren(...curve(temperatures));
  element("chart").hidden = false;
  say("");
}

function curve(temperatures) {
  const [low, high] = [Math.min(...temperatures), Math.max(...temperatures)];
  const x = (index) => 20 + (index * 280) / (temperatures.length - 1);
  const y = (celsius) => 76 - ((celsius - low) * 52) / (high - low || 1);
  const points = temperatures.map((celsius, index) => `${x(index)},${y(celsius)}`).join(" ");
  const labels = temperatures.map((celsius, index) => draw("text", { x: x(index), y: y(celsius) - 6 }, `${celsius}°`));
  const times = temperatures.map((_celsius, index) => draw("text", { x: x(index), y: 92 }, `${index * 3}:00`));
  return [draw("polyline", { points }), ...labels, ...times];
}

const shapes = {
  sunny: [["circle", { cx: 16, cy: 16, r: 8, fill: "#f5b301" }]],
  cloudy: [["path", { d: "M8 24a6 6 0 0 1 1-12 8 8 0 0 1 15 3 5 5 0 0 1-1 9z", fill: "#9aa5b1" }]],
  rainy: [
    ["path", { d: "M8 20a6 6 0 0 1 1-12 8 8 0 0 1 15 3 5 5 0 0 1-1 9z", fill: "#7b8794" }],
    ["path", { d: "M11 23l-2 5M17 23l-2 5M23 23l-2 5", stroke: "#2f80ed", "stroke-width": 2 }],
  ],
  snowy: [
    ["path", { d: "M8 20a6 6 0 0 1 1-12 8 8 0 0 1 15 3 5 5 0 0 1-1 9z", fill: "#b8c4ce" }],
    ["path", { d: "M10 26h.1M16 28h.1M22 26h.1", stroke: "#56ccf2", "stroke-width": 3, "stroke-linecap": "round" }],
  ],
};

function icon(sky) {
  const drawing = draw("svg", { viewBox: "0 0 32 32", "aria-hidden": "true" });
  drawing.append(...shapes[sky].map(([name, attributes]) => draw(name, attributes)));
  return drawing;
}

const say = (words) => (element("status").textContent = words);
const text = (content) => content.map((block) => block.text ?? "").join("\n");
const create = (name, attributes, words) => fill(document.createElement(name), attributes, words);
const draw = (name, attributes, words) => fill(document.createElementNS(svg, name), attributes, words);

// Text is set as text: what a server answers is never read as HTML.
function fill(node, attributes = {}, words = "") {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (words) node.textContent = words;
  return node;
}
