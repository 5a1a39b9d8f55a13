// A client that is bound to its key (DPoP, RFC 9449): oidc-provider binds its tokens, and jose signs the proofs.

import { createHash, randomUUID } from "node:crypto";

import { exportJWK, generateKeyPair, SignJWT } from "jose";

import { answerOf } from "../clients/answer.mjs";
import { Checks } from "../clients/checks.mjs";
import { machine, startIssuer } from "./issuer.mjs";
import { withKeys } from "./servers.mjs";

const algorithms = ["ES256", "EdDSA"];

export async function tellOfProofs(servers) {
  const checks = new Checks("proofs of keys");
  const issuer = await startIssuer();
  const resource = servers.resource("proofs");
  await servers.serve(resource, issuer.url, { strip: true, auth: { dpop: "required", dpop_nonce: 3600 } });
  for (const algorithm of algorithms) {
    const client = new BoundClient(await generateKeyPair(algorithm), algorithm);
    const { access_token: token, token_type: type } = await client.token(issuer.url, resource);
    checks.equal(`${algorithm}: the token`, type, "DPoP");
    const [first, nonce] = await client.call(resource, token);
    checks.equal(`${algorithm}: without a nonce`, first, 'DPoP error="use_dpop_nonce"');
    const [second] = await client.call(resource, token, { nonce });
    checks.equal(`${algorithm}: with it`, second, { issuer: issuer.url, subject: machine.client_id, scopes: ["mcp:use"] });
    const proof = await client.proof("POST", resource, { token, nonce });
    checks.equal(`${algorithm}: once`, (await client.call(resource, token, { proof }))[0].subject, machine.client_id);
    checks.equal(`${algorithm}: twice`, (await client.call(resource, token, { proof }))[0], 'DPoP error="invalid_dpop_proof"');
    const thief = new BoundClient(await generateKeyPair(algorithm), algorithm);
    checks.equal(`${algorithm}: another key`, (await thief.call(resource, token, { nonce }))[0], 'DPoP error="invalid_dpop_proof"');
    const bearer = await client.call(resource, token, { nonce, scheme: "Bearer" });
    checks.equal(`${algorithm}: as a bearer token`, bearer[0], 'DPoP error="invalid_token"');
  }
  issuer.close();
  return checks.finish();
}

class BoundClient {
  constructor(keys, algorithm) {
    Object.assign(this, { ...keys, algorithm });
  }

  async proof(htm, htu, { token, nonce } = {}) {
    const ath = token && createHash("sha256").update(token).digest("base64url");
    const header = { typ: "dpop+jwt", alg: this.algorithm, jwk: await exportJWK(this.publicKey) };
    const claims = JSON.parse(JSON.stringify({ jti: randomUUID(), htm, htu, ath, nonce }));
    return new SignJWT(claims).setProtectedHeader(header).setIssuedAt().sign(this.privateKey);
  }

  async token(issuer, resource) {
    const url = `${issuer}/token`;
    const basic = Buffer.from(`${machine.client_id}:${machine.client_secret}`).toString("base64");
    const body = new URLSearchParams({ grant_type: "client_credentials", resource, scope: "mcp:use" });
    const headers = { authorization: `Basic ${basic}`, dpop: await this.proof("POST", url) };
    return (await fetch(url, { method: "POST", headers, body })).json();
  }

  // What the tool says, or how the challenge begins; and the nonce.
  async call(url, token, { nonce, proof, scheme = "DPoP" } = {}) {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "proofs", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "whoami", arguments: {}, _meta } };
    const headers = {
      authorization: `${scheme} ${token}`, dpop: proof ?? (await this.proof("POST", url, { token, nonce })),
      "content-type": "application/json", accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "whoami",
    };
    const response = await withKeys(() => fetch(url, { method: "POST", headers, body: JSON.stringify(message) }));
    const challenge = response.headers.get("www-authenticate");
    if (challenge) return [challenge.split(",")[0], response.headers.get("dpop-nonce")];
    const { session, ...said } = JSON.parse((await answerOf(response)).result.content[0].text);
    return [said];
  }
}
