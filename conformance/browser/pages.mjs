// A web site of one page and its script, on a free port of loopback.

import { createServer } from "node:http";
import { once } from "node:events";

import { build } from "esbuild";

export async function servePage(script) {
  const { outputFiles } = await build({ entryPoints: [script], bundle: true, write: false, format: "esm", target: "es2022" });
  const html = '<!DOCTYPE html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>';
  const server = createServer(({ url }, answer) => {
    const isScript = url === "/page.js";
    answer.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html; charset=utf-8" });
    answer.end(isScript ? outputFiles[0].contents : html);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${server.address().port}`, close };
}
