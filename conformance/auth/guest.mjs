// The official TypeScript client with a person before it, in Node and in a page.

import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";

export class Guest {
  // `person` logs in when the client is told to; it is not needed where `authProvider` is another one.
  constructor(era, url, person, authProvider = person) {
    Object.assign(this, { era, url, person, authProvider });
  }

  async connect() {
    await this.#loggedIn(() => this.#open());
    return { version: this.client.getNegotiatedProtocolVersion() };
  }

  async call(name) {
    const { structuredContent, content } = await this.#loggedIn(() => this.client.callTool({ name, arguments: {} }));
    return structuredContent ?? { text: content[0].text };
  }

  close() {
    return this.client.close();
  }

  #open() {
    this.client = new Client(
      { name: "guest", version: "1.0.0" },
      { versionNegotiation: { mode: this.era === "legacy" ? "legacy" : "auto" } },
    );
    this.transport = new StreamableHTTPClientTransport(new URL(this.url), { authProvider: this.authProvider });
    return this.client.connect(this.transport);
  }

  // The client stops when somebody has to log in, and is asked again when that is done.
  async #loggedIn(work) {
    try {
      return await work();
    } catch (error) {
      const answer = error instanceof UnauthorizedError && this.person.takeAnswer();
      if (!answer) throw error;
      await this.transport.finishAuth(answer);
      return work();
    }
  }
}
