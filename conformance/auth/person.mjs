// The person before a client: it stores what the client learns, and logs in when it has to.

export class Person {
  // `logIn` gets the URL to log in at, and returns the parameters that came back to `redirectUrl`.
  constructor(redirectUrl, logIn) {
    Object.assign(this, { redirectUrl, logIn });
  }

  get clientMetadata() {
    return {
      client_name: "guest",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  state() {
    this.sent = crypto.randomUUID();
    return this.sent;
  }

  clientInformation() {
    return this.client;
  }

  saveClientInformation(client) {
    this.client = client;
  }

  tokens() {
    return this.granted;
  }

  saveTokens(tokens) {
    this.granted = tokens;
  }

  codeVerifier() {
    return this.verifier;
  }

  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }

  discoveryState() {
    return this.discovered;
  }

  saveDiscoveryState(discovered) {
    this.discovered = discovered;
  }

  async redirectToAuthorization(url) {
    const answer = await this.logIn(url);
    if (answer.get("state") !== this.sent) throw new Error("another state came back");
    this.answer = answer;
  }

  // What came back, once.
  takeAnswer() {
    const { answer } = this;
    this.answer = undefined;
    return answer;
  }
}
