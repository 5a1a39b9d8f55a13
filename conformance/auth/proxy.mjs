// One host for several servers, as a proxy in front of them makes it.

import { createServer, request as send } from "node:http";
import { once } from "node:events";

const wellKnown = "/.well-known/oauth-protected-resource";

// A route is `{ prefix, port, strip, headers }`: of a request below `strip` the prefix is taken away, but the metadata
// keep their path; `headers` take the place of the request's own.
export async function startProxy() {
  const routes = [];

  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const path = url.startsWith(wellKnown) ? url.slice(wellKnown.length) : url;
    const route = routes.find(({ prefix }) => path.startsWith(`${prefix}/`));
    if (!route) return outgoing.writeHead(404).end();
    const target = route.strip && path === url ? url.slice(route.prefix.length) : url;
    const sent = { host: "127.0.0.1", port: route.port, method, path: target, headers: { ...headers, ...route.headers }, agent: false };
    const upstream = send(sent, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.on("error", () => outgoing.destroy());
    });
    upstream.on("error", () => outgoing.destroy());
    outgoing.on("close", () => upstream.destroy());
    return incoming.pipe(upstream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, add: (route) => void routes.push(route), close };
}
