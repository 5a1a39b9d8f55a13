#!/usr/bin/env python3
"""Writes the first inputs of every fuzz target: `seeds.py FOLDER [CORPORA]`, a folder for each target.

Without the corpora there are fewer, and the targets run all the same.
"""
import base64
import hashlib
import json
import sys
from pathlib import Path

# Larger files cost more time than they find.
MAX_BYTES = 16 * 1024

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META = {VERSION: "2026-07-28", CAPABILITIES: {"sampling": {}}}
PLAIN = {"host": "localhost:4040", "content-type": "application/json", "accept": "application/json, text/event-stream"}


def main(folder, corpora):
    texts = list(json_texts(corpora))
    messages = list(vectors(corpora)) + [json.dumps(message).encode() for message in calls()]
    seeds = {
        "decode": texts + messages,
        "round_trip": texts + list(strings(corpora)),
        "differential": texts,
        "envelope": messages,
        "schema": list(schemas(corpora)),
        "repair": list(repairs()),
        "template": list(templates(corpora)),
        "sse_headers": list(headers(corpora)),
        "http_head": list(requests(messages)),
        "http1_head": [b"\xff" + head for head in heads(messages)],
        "http1_chunks": [b"\xff\x05" + body for body in chunked_bodies()],
        "http1_connection": list(connections(messages)),
        "rest": list(rest_requests()),
        "cursors": [b"", b"a!B", b"\x00\x05AAAA", b"AAAAAAAAAAAAAAAAAA"],
        "origins": list(origins()),
        "auth_token": list(tokens(corpora)),
        "auth_jwks": list(key_sets(corpora)),
        "auth_header": list(credentials()),
        "auth_proof": list(proofs()),
        "sealed_state": [bytes(range(256)), b"\x00" * 300, b"tools/call" * 40],
    }
    for target, inputs in seeds.items():
        place = Path(folder, target)
        place.mkdir(parents=True, exist_ok=True)
        for data in inputs:
            if len(data) <= MAX_BYTES:
                (place / hashlib.sha1(data).hexdigest()).write_bytes(data)


def load(corpora, path):
    file = corpora / path
    return json.loads(file.read_bytes()) if file.exists() else None


def json_texts(corpora):
    folders = ["JSONTestSuite/test_parsing", "JSONTestSuite/test_transform", "jiffy-cases/test/cases"]
    for folder in folders + ["jason-formatter-suite/formatter_test_suite"]:
        for file in sorted((corpora / folder).glob("*")):
            if file.is_file():
                yield file.read_bytes()
    for string in strings(corpora):
        yield b'"' + string + b'"'
        yield json.dumps({string.decode(errors="replace"): [string.decode(errors="replace")]}).encode()
    for text in ["-0", "-0.0", "1e400", "5e-324", "18446744073709551616", "-9223372036854775809", '{"a":1,"\\u0061":2}']:
        yield text.encode()


def strings(corpora):
    for string in load(corpora, "naughty-strings/blns.json") or []:
        yield string.encode()
    for case in (load(corpora, "utf8tests/utf8tests.json") or {"cases": []})["cases"]:
        yield bytes.fromhex(case["hex"])


def vectors(corpora):
    for case in (load(corpora, "jsonrpc-vectors/envelope.json") or {"cases": []})["cases"]:
        yield base64.b64decode(case["raw_base64"])
    for example in (load(corpora, "jsonrpc-vectors/spec-examples.json") or {"examples": []})["examples"]:
        yield example["request"].encode()


def call(method, params, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def calls():
    """One message of every method, in both eras, and of every other kind."""
    client = {"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "c", "version": "1"}}
    yield call("initialize", client)
    reference = {"type": "ref/prompt", "name": "greet"}
    template = {"type": "ref/resource", "uri": "users://{id}/profile"}
    params = {
        "ping": {},
        "server/discover": {},
        "tools/list": {"cursor": "AAAAAAAAAAAAAAAAAA"},
        "tools/call": {"name": "add", "arguments": {"a": 1, "region": "eu"}, "task": {"ttl": 60000}},
        "prompts/list": {},
        "prompts/get": {"name": "greet", "arguments": {"who": "Ada"}},
        "resources/list": {},
        "resources/templates/list": {},
        "resources/read": {"uri": "users://ada/profile"},
        "resources/subscribe": {"uri": "file:///config.json"},
        "resources/unsubscribe": {"uri": "file:///config.json"},
        "completion/complete": {"ref": reference, "argument": {"name": "who", "value": "A"}, "context": {"arguments": {}}},
        "logging/setLevel": {"level": "warning"},
        "subscriptions/listen": {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["docs://readme"]}},
        "tasks/get": {"taskId": "t1"},
        "tasks/result": {"taskId": "t1"},
        "tasks/cancel": {"taskId": "t1"},
        "tasks/update": {"taskId": "t1", "inputResponses": {"a": {"action": "accept", "content": {}}}},
        "tasks/list": {},
        "no/such": {},
    }
    for method, values in params.items():
        yield call(method, values, "s-1")
        yield call(method, {**values, "_meta": {**META, "progressToken": 7}}, 2**63)
    yield call("completion/complete", {"ref": template, "argument": {"name": "id", "value": ""}})
    answers = {"k": {"action": "accept", "content": {"x": 1}}}
    yield call("tools/call", {"name": "add", "arguments": {}, "requestState": "abc", "inputResponses": answers, "_meta": META})
    yield {"jsonrpc": "2.0", "method": "notifications/initialized"}
    yield {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "no"}}
    yield {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 0.5}}
    yield {"jsonrpc": "2.0", "id": 3, "result": {"roots": [{"uri": "file:///"}]}}
    yield {"jsonrpc": "2.0", "id": 4, "error": {"code": -1, "message": "no"}}
    yield [call("ping", {}), {"jsonrpc": "2.0", "method": "x"}, call("tools/list", {}, 2)]


def schemas(corpora):
    """Of each group of the official suite the schema with its first valid and its first invalid value."""
    for draft in ["draft2020-12", "draft2019-09", "draft7", "draft6", "draft4"]:
        for file in sorted((corpora / "JSON-Schema-Test-Suite/tests" / draft).glob("*.json")):
            for group in json.loads(file.read_bytes()):
                schema = json.dumps(group["schema"]).encode()
                for valid in [True, False]:
                    tests = [test for test in group["tests"] if test["valid"] == valid]
                    if tests:
                        yield schema + b"\0" + json.dumps(tests[0]["data"]).encode()
    lattice = {"$defs": {"0": {"type": "integer"}}, "$ref": "#/$defs/9"}
    for level in range(1, 10):
        to = {"$ref": f"#/$defs/{level - 1}"}
        lattice["$defs"][str(level)] = {"anyOf": [to, to]}
    yield json.dumps(lattice).encode() + b'\0"x"'
    yield b'{"pattern":"(a{1000}){1000}"}\0"aaaa"'
    yield b'{"items":{"$ref":"#"}}\0' + b"[" * 100 + b"]" * 100


def repairs():
    """Values as models send them, each beside the schema that it nearly satisfies."""
    typed = {"integer": ["42", "-7", "0.0", "9007199254740993"], "number": ["1.5", "1e3"], "boolean": ["true", "False"]}
    typed |= {"array": ["[1]", 1, "a,b"], "object": ["{\"a\":1}", "{}", []], "string": [1, ["a"]], "null": ["null"]}
    for name, values in typed.items():
        for value in values:
            schema = {"properties": {"x": {"type": name}, "y": {"items": {"type": name}}}}
            yield json.dumps(schema).encode() + b"\0" + json.dumps({"x": value, "y": [value, value]}).encode()
    address = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"type": "string", "format": "email"}}}}
    yield json.dumps(address).encode() + b'\0"a@b.c"'
    for name in ["date", "date-time", "duration", "hostname", "ipv6", "uri", "uri-template", "json-pointer", "uuid", "regex"]:
        yield json.dumps({"format": name}).encode() + b'\0"P1D"'


def templates(corpora):
    values = ["value", "Hello World!", "/foo/bar", "", "..", "x%00"]
    sources = {"docs://{section}/{+path}{?page}": "docs://a/b/c?page=2", "x{/id*}": "x/1/2", "{a}{b}": "ab", "{+a}-{+b}": "a-b"}
    for source, uri in sources.items():
        yield "\0".join([source, uri, *values]).encode()
    for name in ["spec-examples", "spec-examples-by-section", "extended-tests", "negative-tests"]:
        for group in (load(corpora, f"uritemplate-test/{name}.json") or {}).values():
            for source, expected in group["testcases"]:
                uri = expected if isinstance(expected, str) else (expected or [""])[0]
                yield "\0".join([source, uri, *values]).encode()


def headers(corpora):
    def sentinel(text):
        return b"=?base64?" + base64.b64encode(text.encode()) + b"?="

    for name in ["add", "größe", "a b", "=?base64?YWRk?=", "line\r\nend", ""]:
        for header in [name.encode(), sentinel(name), b"  " + sentinel(name) + b"\t"]:
            yield header + b"\0" + name.encode()
    for header in [b"=?base64?YWR=?=", b"=?base64?YWRl", b"=?BASE64?YWRk?=", b"=?base64??=", b"3-14"]:
        yield header + b"\0add"
    for case in (load(corpora, "sse-vectors/sse.json") or {"cases": []})["cases"]:
        yield b"x\0" + b"".join(base64.b64decode(chunk) for chunk in case["chunks_base64"])


def request(line, fields, body=b""):
    lines = [line] + [f"{name}: {value}" for name, value in fields.items()]
    return "\n".join(lines).encode() + b"\n\n" + body


def requests(messages):
    for message in messages:
        yield request("POST /mcp", PLAIN, message)
        try:
            read = json.loads(message)
            method, params = read["method"], read["params"]
            name = params.get("name") or params.get("uri") or params.get("taskId") or ""
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        fields = {"mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name, "mcp-param-region": "eu"}
        yield request("POST /mcp", {**PLAIN, **fields}, message)
    session = {"mcp-session-id": "0123456789abcdef", "mcp-protocol-version": "2025-11-25", "last-event-id": "3-14"}
    for line in ["GET /mcp", "DELETE /mcp", "PUT /mcp", "GET /.well-known/oauth-protected-resource", "OPTIONS *"]:
        yield request(line, {**PLAIN, **session})
    for host in ["127.0.0.1", "[::1]:80", "localhost.evil.com", "127.0.0.1.evil.com", "LOCALHOST.", "mcp.example.com:443"]:
        for origin in ["http://localhost:3000", "null", "https://app.example.com", f"http://{host}"]:
            yield request("POST /mcp", {**PLAIN, "host": host, "origin": origin, "content-length": "2"}, b"{}")
    yield request("POST http://localhost/mcp?x=1", {**PLAIN, "accept": 'text/*;q="0.5", */*;q=0.1'}, b"{}")


def wire(line, *fields, body=b""):
    """A request as it is sent."""
    return "\r\n".join([line, *fields, "", ""]).encode("latin-1") + body


def heads(messages):
    for text in list(requests(messages))[::7]:
        head, _, body = text.partition(b"\n\n")
        line, *fields = head.decode().split("\n")
        yield wire(line + " HTTP/1.1", *fields, f"content-length: {len(body)}", body=body)
    targets = ["/", "/mcp?a=b|c", "http://localhost:4040/mcp", "HTTPS://a", "*", "a:443", "/a#b", "//a", "/%zz", '/{"a"}', "/`"]
    for target in targets:
        for method in ["GET", "OPTIONS", "CONNECT"]:
            yield wire(f"{method} {target} HTTP/1.1", "Host: a")
    for version in ["HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "http/1.1", "HTTP/1.1 "]:
        yield wire(f"GET / {version}", "Host: a", "Connection: keep-alive, TE")
    framings = ["Content-Length: 5", "Content-Length: 5, 5", "Content-Length: +5", "Content-Length: 18446744073709551616"]
    framings += ["Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: \x0bchunked"]
    framings += ["Expect: 100-continue", "Expect: 200-ok", "Connection: close", "Connection: keep-alive", "Content-Length : 5"]
    for first in framings:
        for second in ["A: b", "Content-Length: 5", "Transfer-Encoding: chunked", "Connection: close, keep-alive", " folded"]:
            yield wire("POST / HTTP/1.1", "Host: a", first, second, body=b"5\r\nhello\r\n0\r\n\r\n")
    for count in [2, 5]:
        yield b"\r\n" * count + wire("GET / HTTP/1.1", "Host: a")
    yield wire("GET / HTTP/1.1", "Host: a").replace(b"\r\n", b"\n")
    yield b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def chunked_bodies():
    sizes = ["5", "05", "0000000000000005", "00000000000000005", "5 ", "5;a", "5;a=b", '5;a="b c"', "5 ;a", "5;", "0x5", "+5", "-5", "g"]
    for size in sizes:
        yield size.encode() + b"\r\nhello\r\n0\r\n\r\nGET"
    for end in ["0\r\n\r\n", "000\r\n\r\n", "0;a\r\n\r\n", "0\r\na: b\r\nc:\r\n\r\n", "0\r\nContent-Length: 5\r\n\r\n", "0\n\n"]:
        yield b"A\r\n0123456789\r\n1\r\nx\r\n" + end.encode()
    yield b"1;" + b"a" * 300 + b"\r\nx\r\n0\r\n\r\n"
    yield b"0\r\na: " + b"b" * 5000 + b"\r\n\r\n"
    yield b"FFFFFFFFFFFFFFFF\r\nhello"
    yield b"5\r\nhello!\r\n0\r\n\r\n"
    yield b"5\r\nhello\n0\r\n\r\n"


def connections(messages):
    chunked = wire("POST /a HTTP/1.1", "Host: a", "Transfer-Encoding: chunked")
    get = wire("GET /b HTTP/1.1", "Host: a")
    for number, head in enumerate(heads(messages)):
        yield bytes([0, number % 256]) + head + get
        yield bytes([number % 256, 7]) + get + head
    for number, body in enumerate(chunked_bodies()):
        yield bytes([0, number % 256]) + chunked + body.removesuffix(b"GET") + get
    yield b"\x01\x00" + (get + wire("POST / HTTP/1.1", "Host: a", "Content-Length: 2", body=b"{}")) * 5
    yield b"\x00\x01" + wire("GET / HTTP/1.0", "Connection: close", "Connection: keep-alive") + get


def rest_requests():
    bodies = ['{"offset":100,"limit":5000}', '{"sort":[{"field":"a","order":"desc"}]}', '{"sort":{"field":"a"}}', "", "[]", "=1+1", 'a,"b"']
    accepts = ["application/json", "application/x-ndjson", "text/csv;q=0.9, application/json;q=0.1", "text/html"]
    for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"]:
        for body, accept in zip(bodies, accepts * 2):
            target = "/resources/abc123?exp=1736938800&sig=AbC-_9"
            yield request(f"{method} {target}", {"host": "localhost", "accept": accept}, body.encode())
    for target in ["/resources/../x", "/resources/%2e%2e", "/resources/a/b", "/resources/", "/resources/a?exp=1&exp=2&sig=x"]:
        yield request(f"GET {target}", {"host": "localhost"})


def origins():
    yield b"https://*.example.com:8443\napi.example.com\nwss://x.y"
    yield b"a.com; script-src *\nhttps://a b\ndata:\n*.com\n*\nhttps://*\nhttps://a.com/path\nhttps://a:0\n'self'\n//a"


def tokens(corpora):
    """A token as it is, or header, claims and signature between NULs; policy, form and change come first."""
    issuer, late = "https://auth.example", 1_700_000_060
    good = {"iss": issuer, "aud": "https://mcp.example/mcp", "sub": "ada", "exp": late, "iat": late - 90, "scope": "a b a"}
    other = {"iss": issuer, "client_id": "app", "token_use": "access", "exp": late, "realm_access": {"roles": ["a", "b"]}}
    changes = [{}, {"aud": ["x", "HTTPS://MCP.example:443/mcp/"]}, {"exp": late + 0.5}, {"cnf": {}}, {"nonce": "n"}, {"azp": "c"}]
    changes += [{"scope": 1}, {"scp": ["a"], "scope": "b"}, {"exp": "1"}, {"nbf": late}, {"sub": "s" * 257}, {"x": [[[[1]]]]}]
    changes += [{f"c{number}": number for number in range(95)}]
    keys = [("RS256", "r", 5), ("PS256", "p", 5), ("ES256", "e", 1), ("ES384", None, 9), ("ES512", "e5", 13), ("Ed25519", "o", 1)]
    for alg, kid, form in keys:
        header = {"alg": alg, "typ": "at+jwt"} | ({"kid": kid} if kid else {})
        yield bytes([0, form, 7]) + json.dumps(header).encode() + b"\0" + json.dumps(good).encode()
    for change in changes:
        yield b"\0\x01\x80" + b'{"alg":"ES256","kid":"e"}\0' + json.dumps(good | change).encode()
        yield b"\x01\x01\x80" + b'{"alg":"ES256","typ":"AT+JWT","kid":"any"}\0' + json.dumps(other | change).encode()
        yield b"\x02\x11\x80" + b'{"alg":"HS256"}\0' + json.dumps(good | change).encode()
    said = {"active": True, "token_type": "Bearer"} | {name: good[name] for name in ["aud", "sub", "scope"]}
    for change in [{}, {"active": "true"}, {"active": False}, {"token_type": "DPoP"}, {"sub": 1}, {"iss": "x"}, {"client_id": "c"}]:
        yield b"\0\1\0\0" + json.dumps(said | change).encode()
    for member in ["jwk", "jku", "x5u", "x5c", "crit", "b64", "zip", "cty", "typ", "kid"]:
        header = json.dumps({"alg": "EdDSA", "kid": "o", member: "x"}).encode()
        yield b"\0\x01\x20" + header + b"\0" + json.dumps(good).encode()
    for test in wycheproof(corpora, "json_web_signature"):
        if isinstance(test.get("jws"), str):
            yield b"\0\0\x40" + test["jws"].encode()


def wycheproof(corpora, name):
    groups = (load(corpora, f"wycheproof/{name}_test.json") or {"testGroups": []})["testGroups"]
    return [test for group in groups for test in group["tests"]]


def key_sets(corpora):
    def number(length, last=5):
        return base64.urlsafe_b64encode(b"\xc5" * (length - 1) + bytes([last])).rstrip(b"=").decode()

    rsa = {"kty": "RSA", "n": number(256), "e": "AQAB"}
    curves = {name: {"kty": "EC", "crv": name, "x": number(size), "y": number(size)} for name, size in [("P-256", 32), ("P-384", 48), ("P-521", 66)]}
    keys = [rsa, *curves.values(), {"kty": "OKP", "crv": "Ed25519", "x": number(32)}, {"kty": "oct", "k": number(32)}]
    changes = [{"kid": "a"}, {"use": "sig"}, {"use": "enc"}, {"key_ops": ["verify"]}, {"alg": "ES256"}, {"alg": "PS256"}, {"d": "AQ"}, {"kid": 1}]
    yield json.dumps({"keys": keys}).encode()
    yield json.dumps({"keys": [key | {"kid": str(place)} for place, key in enumerate(keys)]}).encode()
    for change in changes:
        yield json.dumps({"keys": [key | change for key in keys], "x": 1}).encode()
    for size, last in [(255, 5), (256, 4), (1024, 5), (1025, 5)]:
        yield json.dumps({"keys": [rsa | {"n": number(size, last)}]}).encode()
    yield json.dumps({"keys": [{}] * 101}).encode()
    for group in (load(corpora, "wycheproof/json_web_key_test.json") or {"testGroups": []})["testGroups"]:
        for name in ["public", "jwk", "publicKeyJwk"]:
            if name in group:
                value = group[name]
                yield json.dumps(value if "keys" in value else {"keys": [value]}).encode()


def proofs():
    """Header and claims between NULs, behind a byte that says so."""
    coordinate = base64.urlsafe_b64encode(b"\xc5" * 32).rstrip(b"=").decode()
    curve = {"kty": "EC", "crv": "P-256", "x": coordinate, "y": coordinate}
    keys = [("ES256", curve), ("EdDSA", {"kty": "OKP", "crv": "Ed25519", "x": coordinate})]
    keys += [("ES256", curve | change) for change in [{"d": "AQ"}, {"use": "enc"}, {"alg": "ES256"}, {"key_ops": ["verify"]}]]
    good = {"jti": "a", "htm": "POST", "htu": "https://mcp.example/mcp", "iat": 1_700_000_000}
    good |= {"ath": "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"}
    changes = [{}, {"htu": "HTTPS://MCP.example:443/%6dcp/?a#b"}, {"iat": 1_700_000_300.5}, {"iat": 1_699_999_699}, {"nonce": "n"}]
    changes += [{"exp": 1_700_000_000}, {"nonce": 1}, {"jti": ""}, {"htm": "GET"}, {"ath": "x"}]
    for alg, jwk in keys:
        header = json.dumps({"typ": "dpop+jwt", "alg": alg, "jwk": jwk}).encode()
        for change in changes:
            yield b"\1" + header + b"\0" + json.dumps(good | change).encode()


def credentials():
    values = ["Bearer abc.def-_~+/==", "bearer   abc", "Bearer", "Bearer a b", "Bearer a=b", "Bearer =", "BEARERabc", "Basic YTpi", "DPoP abc"]
    queries = ["", "?access_token=x", "?a=1&Access%5Ftoken=x", "?a;access%5ftoken", "?access_token%3d=1", "?%61ccess_token", "?access%zz_token", "?access%5"]
    for value in values:
        for query in queries:
            yield request(f"POST /mcp{query}", {"authorization": value})
    yield request("POST /mcp", {"authorization": "Bearer a", "Authorization": "Bearer b"})
    yield request("POST http://h/mcp?access_token", {"a b": 'say "no\\"', "scope": "files:read", "x": "scope=\u00e9"})


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2] if len(sys.argv) > 2 else "absent"))
