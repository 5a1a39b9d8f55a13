// An authorization server: oidc-provider on a loopback port. It logs everybody in as "ada" and asks nobody.

import { createServer } from "node:http";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { json } from "node:stream/consumers";

import { Provider } from "oidc-provider";
import { createMemoryAdapter } from "oidc-provider/lib/adapters/memory_adapter.js";

const scopes = ["mcp:use", "files:write"];
export const machine = { client_id: "machine", client_secret: randomBytes(32).toString("hex") };
export const introspector = { client_id: "resource", client_secret: randomBytes(32).toString("hex") };

// `formats` says which resources get opaque tokens, and `lifetimes` how many seconds tokens live, each by URL.
export async function startIssuer({ formats = {}, lifetimes = {} } = {}) {
  const noted = {};
  const note = (what) => void (noted[what] = (noted[what] ?? 0) + 1);
  let [provider, cut] = [undefined, false];

  const server = createServer((request, response) => {
    const ours = request.headers["user-agent"] === "mcp_server";
    if (ours && cut) return request.socket.destroy();
    if (ours) note(`server ${new URL(request.url, "http://issuer").pathname}`);
    // A page registers itself; oidc-provider answers pages everywhere but there.
    if (request.url === "/reg" && allowsPage(request, response)) return undefined;
    return provider.callback()(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}`;

  // Other keys take the place of the old ones. Who is registered, and what was granted, stays.
  const adapter = createMemoryAdapter();
  const rotate = () => void (provider = makeProvider(url, { adapter, formats, lifetimes, note }));
  rotate();

  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const take = () => {
    const taken = { ...noted };
    for (const name of Object.keys(noted)) delete noted[name];
    return taken;
  };
  // What a machine gets for its own credentials.
  const grant = async (resource) => {
    const basic = Buffer.from(`${machine.client_id}:${machine.client_secret}`).toString("base64");
    const body = new URLSearchParams({ grant_type: "client_credentials", resource, scope: "mcp:use" });
    const response = await fetch(`${url}/token`, { method: "POST", headers: { authorization: `Basic ${basic}` }, body });
    return (await response.json()).access_token;
  };
  // Cut off, it is there for clients, and the server under test does not reach it.
  return { url, rotate, grant, take, close, cutOff: () => void (cut = true), reconnect: () => void (cut = false) };
}

function allowsPage({ method, headers }, response) {
  if (!headers.origin) return false;
  response.setHeader("access-control-allow-origin", headers.origin);
  if (method !== "OPTIONS") return false;
  response.setHeader("access-control-allow-headers", "content-type, mcp-protocol-version");
  response.writeHead(204).end();
  return true;
}

function makeProvider(url, { adapter, formats, lifetimes, note }) {
  const provider = new Provider(url, {
    adapter,
    jwks: { keys: [signingKey()] },
    cookies: { keys: [randomBytes(32).toString("hex")] },
    clients: [
      { ...machine, grant_types: ["client_credentials"], redirect_uris: [], response_types: [] },
      { ...introspector, grant_types: [], redirect_uris: [], response_types: [] },
    ],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    scopes: ["openid", "offline_access", ...scopes],
    pkce: { required: () => true },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    loadExistingGrant: (context) => grantAll(provider, context),
    clientBasedCORS: () => true,
    issueRefreshToken: (_context, client) => client.grantTypeAllowed("refresh_token"),
    // Requests in flight refresh with the same token.
    rotateRefreshToken: false,
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: (_context, client) => client.clientId === introspector.client_id },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          audience: resource,
          scope: scopes.join(" "),
          accessTokenFormat: formats[resource] ?? "jwt",
          accessTokenTTL: lifetimes[resource] ?? 300,
        }),
      },
    },
  });
  provider.use(registerForAll);
  provider.use(logIn(provider));
  provider.on("registration_create.success", () => note("registered"));
  provider.on("authorization.success", () => note("logged in"));
  provider.on("grant.success", ({ oidc }) => note(oidc.params.grant_type));
  return provider;
}

function signingKey() {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), use: "sig", alg: "ES256", kid: randomBytes(8).toString("hex") };
}

// Clients register with the scopes of their first challenge. This provider would never give them more; others do.
async function registerForAll({ path, method, req }, next) {
  if (path === "/reg" && method === "POST") {
    req.body = await json(req);
    delete req.body.scope;
  }
  return next();
}

// What a person would do on the pages of the provider.
function logIn(provider) {
  return async (context, next) => {
    if (!context.path.startsWith("/interaction/")) return next();
    const { prompt } = await provider.interactionDetails(context.req, context.res);
    const result = prompt.name === "login" ? { login: { accountId: "ada" } } : { consent: {} };
    return provider.interactionFinished(context.req, context.res, result, { mergeWithLastSubmission: true });
  };
}

async function grantAll(provider, { oidc }) {
  const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
  grant.addOIDCScope(["openid", "offline_access", ...scopes].join(" "));
  for (const resource of [oidc.params.resource ?? []].flat()) grant.addResourceScope(resource, scopes.join(" "));
  await grant.save();
  return grant;
}
