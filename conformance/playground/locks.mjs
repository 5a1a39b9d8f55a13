// What keeps others out: the token, the policy of the page, and the rules for Host and Origin.

import { createServer, request } from "node:http";

// Without the token the page asks for it, and what it asks the server for is refused. The token leaves the address.
export async function token({ checks, open, closeAll }, address) {
  const { origin, hash } = new URL(address);
  const page = await open(address.replace(/#.*/, ""));
  await page.says("main h2", "Which token?");
  const statuses = await page.page.evaluate(async (known) => {
    const ask = async (path, method) => (await fetch(path, { method })).status;
    const wrong = `${known.slice(0, -1)}${known.endsWith("A") ? "B" : "A"}`;
    return [await ask(`/playground/${wrong}/about`), await ask(`/${wrong}/mcp`, "POST"), await ask(`/playground/${known}/about`)];
  }, hash.slice(1));
  checks.equal("a wrong token", statuses, [403, 404, 200]);
  await page.fill({ Token: "wrong-wrong-wrong-wrong" });
  await page.press("Go on");
  await page.says("[role=alert]", "The server has printed another token.");
  await page.fill({ Token: hash.slice(1) });
  await page.press("Go on");
  await page.connected();
  const other = await open(address);
  await other.connected();
  await other.becomes(() => performance.getEntriesByName("first-contentful-paint").length > 0);
  const [paint] = await other.page.evaluate(() => performance.getEntriesByName("first-contentful-paint").map(({ startTime }) => startTime));
  console.log(`first paint after ${paint.toFixed()} ms`);
  checks.equal("the token leaves the address", other.page.url(), `${origin}/playground/index.html`);
  await other.page.reload();
  await other.connected();
  // What would be said of a violation is said.
  const seen = await other.page.evaluate(() => new Promise((resolve) => {
    addEventListener("securitypolicyviolation", ({ effectiveDirective }) => resolve(effectiveDirective), { once: true });
    document.body.append(Object.assign(document.createElement("img"), { src: "http://127.0.0.1:9/" }));
  }));
  checks.equal("a picture of another site", seen, "img-src");
  await other.page.evaluate(() => (window.violations.length = 0));
  await closeAll();
}

// A page of another origin knows where the playground is and, the worst case, even its token.
export async function attack({ checks, open, closing, closeAll }, address) {
  const { origin, hash } = new URL(address);
  const html = '<!DOCTYPE html><link rel="icon" href="data:,"><title>Attack</title>';
  const echo = '<!DOCTYPE html><script>onmessage = ({ source, data }) => source.postMessage(data, "*")</script>';
  const server = createServer(({ url }, answer) => answer.writeHead(200, { "content-type": "text/html" }).end(url === "/echo" ? echo : html));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  for (const [host, other] of [["127.0.0.1", "localhost"], ["localhost", "127.0.0.1"]]) {
    const page = await open(`http://${host}:${server.address().port}/`);
    const got = await page.page.evaluate(async (origin, token, echo) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
      const ask = async (path, init) => {
        try {
          return (await fetch(origin + path, init)).status;
        } catch (error) {
          return error.constructor.name;
        }
      };
      const load = (name, attributes) => new Promise((resolve) => {
        const element = Object.assign(document.createElement(name), attributes);
        element.onload = () => resolve("loaded");
        element.onerror = () => resolve("error");
        document.body.append(element);
      });
      const framed = async (src) => {
        const frame = Object.assign(document.createElement("iframe"), { src });
        const loaded = new Promise((resolve) => (frame.onload = resolve));
        document.body.append(frame);
        await loaded;
        return frame;
      };
      const until = async (condition) => {
        for (let tries = 0; tries < 500 && !condition(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 20));
      };
      const frame = await framed(`${origin}/playground/index.html#${token}`);
      const sandbox = await framed(`${origin}/playground/view.html?csp=null`);
      const echoing = await framed(echo);
      const opened = window.open(`${origin}/playground/index.html#${token}`);
      // Its document parts the window from this page.
      await until(() => opened === null || opened.closed);
      const drive = { jsonrpc: "2.0", id: 9, method: "tools/call", params: { name: "test_simple_text" } };
      const answers = [];
      addEventListener("message", ({ data }) => answers.push(data));
      for (const target of [frame.contentWindow, sandbox.contentWindow, opened]) target?.postMessage(drive, "*");
      const got = {
        page: await ask("/playground/index.html"),
        about: await ask(`/playground/${token}/about`),
        list: await ask(`/${token}/mcp`, { method: "POST", body, headers: { "content-type": "application/json" } }),
        simple: await ask(`/${token}/mcp`, { method: "POST", body }),
        script: await load("script", { src: `${origin}/playground/main.js` }),
        framed: frame.contentDocument === null && sandbox.contentDocument === null,
        opened: opened === null || opened.closed,
      };
      // A page of a third site answers, and nothing else has before.
      echoing.contentWindow.postMessage("echo", "*");
      await until(() => answers.includes("echo"));
      return { ...got, answers };
    }, origin, hash.slice(1), `http://${other}:${server.address().port}/echo`);
    checks.equal(`an attack from ${host}`, got, {
      page: "TypeError", about: "TypeError", list: "TypeError", simple: "TypeError", script: "error",
      framed: true, opened: true, answers: ["echo"],
    });
    await closeAll();
  }
  for (const headers of [{ host: "evil.example" }, { origin: "https://evil.example" }, { origin: "null" }])
    checks.equal(`a request with ${JSON.stringify(headers)}`, await status(origin, `/playground/${hash.slice(1)}/about`, headers), 403);
}

// fetch sets neither Host nor Origin.
async function status(origin, path, headers) {
  const { hostname, port, host } = new URL(origin);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, headers: { host, ...headers } }, (answer) => resolve(answer.resume().statusCode))
      .on("error", reject).end();
  });
}
