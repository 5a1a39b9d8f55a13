// One document out of forecast.html, forecast.css and forecast.mjs with everything it imports:
//
//     node build.mjs <document>

import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const source = (name) => new URL(name, import.meta.url);

const { outputFiles } = await build({
  entryPoints: [source("forecast.mjs").pathname],
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: "es2022",
  charset: "utf8",
});

// Inside <script>, the text of its end tag would end it.
const script = outputFiles[0].text.replaceAll("</script", "<\\/script");
const style = await readFile(source("forecast.css"), "utf8");
const html = await readFile(source("forecast.html"), "utf8");

// Functions, because `$` has a meaning in a replacement's text.
const document = html.replace("/* forecast.css */", () => style).replace("/* forecast.mjs */", () => script);
await writeFile(process.argv[2], document);
