// What the official clients do with tokens.

import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { Checks } from "../clients/checks.mjs";
import { startTold } from "../clients/told.mjs";
import { introspector, machine, startIssuer } from "./issuer.mjs";
import { withKeys } from "./servers.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
export const commands = {
  python: [path("../.venv/bin/python"), path("client.py")],
  // The client warns of its own listeners.
  typescript: [process.execPath, "--no-warnings", path("client.mjs")],
};
export const versions = { legacy: "2025-11-25", modern: "2026-07-28" };
const wellKnown = "/.well-known/oauth-protected-resource";

// What one client does in one era. Its tokens for `files` are long-lived, the first for `notes` lives for two seconds,
// and those for `mail` only the issuer can read.
export class Story {
  constructor(name, era, servers) {
    Object.assign(this, { name, era, servers, checks: new Checks(`${name} ${era} with tokens`) });
    this.files = servers.resource(`${name}-${era}-files`);
    this.notes = servers.resource(`${name}-${era}-notes`);
    this.mail = servers.resource(`${name}-${era}-mail`);
  }

  async tell() {
    this.lifetimes = { [this.notes]: 2 };
    this.issuer = await startIssuer({ lifetimes: this.lifetimes, formats: { [this.mail]: "opaque" } });
    await this.servers.serve(this.files, this.issuer.url, { strip: false });
    await this.servers.serve(this.notes, this.issuer.url, { strip: true });
    await this.servers.serve(this.mail, this.issuer.url, { strip: true, auth: { introspection: introspector } });
    await this.metadata();
    const guest = this.start(this.files);
    await this.issuerIsDown(guest);
    await this.wrongAudience(guest);
    await this.rotation(guest);
    await this.sessionOutlivesToken();
    await this.opaqueToken();
    await this.clientCredentials();
    this.issuer.close();
    return this.checks.finish();
  }

  start(...args) {
    return startTold([...commands[this.name], this.era, ...args]);
  }

  grant(scopes, subject = "ada") {
    return { issuer: this.issuer.url, subject, scopes };
  }

  async connect(when, guest) {
    this.checks.equal(when, await withKeys(() => guest.ask("connect")), { version: versions[this.era] });
    const { session, ...grant } = await guest.ask("call whoami");
    this.checks.equal(`${when}: a session`, typeof session === "string", this.era === "legacy");
    return { session, grant };
  }

  async end(guest) {
    this.checks.equal("exit of the client", await guest.close(), 0);
  }

  async metadata() {
    for (const resource of [this.files, this.notes]) {
      const { origin, pathname } = new URL(resource);
      const response = await fetch(`${origin}${wellKnown}${pathname}`);
      this.checks.equal("metadata", await response.json(), {
        resource, authorization_servers: [this.issuer.url], bearer_methods_supported: ["header"], scopes_supported: ["mcp:use"],
      });
    }
  }

  // The client gets its token, but the server gets no keys: it says that it is not the token's fault.
  async issuerIsDown(guest) {
    this.issuer.cutOff();
    const { failed } = await guest.ask("connect");
    this.checks.true(`503 while there are no keys, here ${failed}`, /503/.test(failed));
    this.issuer.reconnect();
    // A client that is refused in between takes the server for one of the session era.
    const { token } = await guest.ask("token");
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    await withKeys(() => fetch(this.files, { method: "POST", headers, body: "{}" }));
    const { grant } = await this.connect("after that", guest);
    this.checks.equal("what the token grants", grant, this.grant(["mcp:use"]));
    const { registered, "logged in": logins, authorization_code } = this.issuer.take();
    this.checks.equal("the token was kept", { registered, logins, authorization_code }, { registered: 1, logins: 1, authorization_code: 1 });
    this.issuer.cutOff();
    this.checks.equal("with keys that are known", (await guest.ask("call whoami")).subject, "ada");
    this.issuer.reconnect();
  }

  // Both resources are on one host.
  async wrongAudience(guest) {
    const { token } = await guest.ask("token");
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(this.notes, { method: "POST", headers, body: "{}" });
    const { origin, pathname } = new URL(this.notes);
    const challenge = [
      'Bearer error="invalid_token"', 'error_description="The access token is for another resource"', 'scope="mcp:use"',
      `resource_metadata="${origin}${wellKnown}${pathname}"`,
    ];
    this.checks.equal("wrong audience", [response.status, response.headers.get("www-authenticate")], [401, challenge.join(", ")]);
  }

  async rotation(guest) {
    const { session } = await guest.ask("call whoami");
    await guest.ask("load");
    // The server asks for keys at most once a second.
    await sleep(1_000);
    this.issuer.rotate();
    const other = this.start(this.files);
    await this.connect("a login after the rotation", other);
    await this.end(other);
    const { calls, failures } = await guest.ask("stop");
    this.checks.equal("calls during the rotation", failures, []);
    console.log(`${this.name} ${this.era}: ${calls} calls during the rotation`);
    this.checks.equal("the session afterwards", (await guest.ask("call whoami")).session, session);
    this.checks.true("keys were fetched again", this.issuer.take()["server /jwks"] >= 1);
    await this.end(guest);
  }

  async sessionOutlivesToken() {
    const guest = this.start(this.notes);
    const { session, grant } = await this.connect("login from nothing", guest);
    this.checks.equal("what it grants", grant, this.grant(["mcp:use"]));
    this.checks.equal("registered", this.issuer.take().registered, 1);
    // The next token outlives what is left to do, however slow that is.
    delete this.lifetimes[this.notes];
    await sleep(3_000);
    this.checks.equal("with an expired token", await guest.ask("call whoami"), { ...grant, session });
    const refreshed = this.issuer.take();
    // In the session era the stream comes back beside the call, and each may refresh the expired token.
    const refreshes = this.era === "legacy" ? [1, 2] : [1];
    this.checks.equal("it was refreshed", [refreshes.includes(refreshed.refresh_token), refreshed["logged in"]], [true, undefined]);
    this.checks.equal("step-up", await guest.ask("call write"), { text: "written" });
    this.checks.equal("logged in again", this.issuer.take()["logged in"], 1);
    const wider = { ...this.grant(["files:write", "mcp:use"]), session };
    this.checks.equal("the session afterwards", await guest.ask("call whoami"), wider);
    await this.end(guest);
  }

  async opaqueToken() {
    const guest = this.start(this.mail);
    const { session, grant } = await this.connect("a token that only the issuer can read", guest);
    this.checks.equal("what it grants", grant, this.grant(["mcp:use"]));
    const { token } = await guest.ask("token");
    this.checks.equal("it says nothing itself", token.split(".").length, 1);
    this.checks.equal("the issuer was asked once", this.issuer.take()["server /token/introspection"], 1);
    this.checks.equal("step-up to another", await guest.ask("call write"), { text: "written" });
    const wider = { ...this.grant(["files:write", "mcp:use"]), session };
    this.checks.equal("the session with both", await guest.ask("call whoami"), wider);
    const taken = { authorization_code: 1, "logged in": 1, "server /token/introspection": 1 };
    this.checks.equal("each token was asked about once", this.issuer.take(), taken);
    await this.end(guest);
  }

  async clientCredentials() {
    const guest = this.start(this.files, machine.client_id, machine.client_secret, this.issuer.url);
    const { grant } = await this.connect("client credentials", guest);
    this.checks.equal("what they grant", grant, this.grant(["mcp:use"], machine.client_id));
    this.checks.equal("nobody logged in", this.issuer.take(), { client_credentials: 1 });
    await this.end(guest);
  }
}
