"""Makes access tokens, good ones and others, and has them judged by PyJWT and joserfc.

`tokens.py COUNT` prints the key set in a line, and then each token in one: its kind, and what both say. The same count
makes the same kinds, with keys of their own. The clock of all three judges stands still.
"""
import base64
import datetime
import hashlib
import hmac
import json
import random
import sys
import warnings

import jwt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from joserfc import jwk as jose_jwk
from joserfc import jwt as jose_jwt

NOW, LEEWAY = 1_700_000_000, 30
ISSUER, RESOURCE = "https://auth.example", "https://mcp.example/mcp"
CURVES = {"ES256": (ec.SECP256R1(), "P-256", 32), "ES384": (ec.SECP384R1(), "P-384", 48), "ES512": (ec.SECP521R1(), "P-521", 66)}
HASHES = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}
RSA = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]
ALGORITHMS = [*RSA, *CURVES, "EdDSA"]


class StoppedClock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromtimestamp(NOW, tz)


jwt.api_jwt.datetime = StoppedClock


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value, size=None):
    return encode(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


def make_keys():
    """Of each kind of key one, and a second RSA key that says its algorithm."""
    keys = {}
    for name, algorithm in [("rsa", None), ("rsa-ps256", "PS256")]:
        private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        public = private.public_key().public_numbers()
        keys[name] = private, {"kty": "RSA", "n": number(public.n), "e": number(public.e)} | ({"alg": algorithm} if algorithm else {})
    for algorithm, (curve, name, size) in CURVES.items():
        private = ec.generate_private_key(curve)
        public = private.public_key().public_numbers()
        keys[algorithm] = private, {"kty": "EC", "crv": name, "x": number(public.x, size), "y": number(public.y, size)}
    private = ed25519.Ed25519PrivateKey.generate()
    raw = private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    keys["EdDSA"] = private, {"kty": "OKP", "crv": "Ed25519", "x": encode(raw)}
    return {kid: (private, public | {"kid": kid}) for kid, (private, public) in keys.items()}


def sign(private, algorithm, message, salt=None, der=False):
    if algorithm == "EdDSA":
        return private.sign(message)
    digest = HASHES[algorithm[2:]]
    if algorithm.startswith("RS"):
        return private.sign(message, padding.PKCS1v15(), digest)
    if algorithm.startswith("PS"):
        return private.sign(message, padding.PSS(padding.MGF1(digest), digest.digest_size if salt is None else salt), digest)
    signature = private.sign(message, ec.ECDSA(digest))
    if der:
        return signature
    size = CURVES[algorithm][2]
    return b"".join(part.to_bytes(size, "big") for part in utils.decode_dss_signature(signature))


# Claims and header members that replace those of a good token; None takes one away.
CLAIMS = {
    "good": {},
    "audience in a list": {"aud": ["https://other.example", RESOURCE]},
    "audience in other letters": {"aud": "HTTPS://MCP.example:443/mcp/"},
    "audience missing": {"aud": None},
    "audience of another resource": {"aud": "https://mcp.example/mcp2"},
    "audience that is a number": {"aud": 7},
    "audience that is an empty list": {"aud": []},
    "audience list with a number": {"aud": [RESOURCE, 7]},
    "issuer missing": {"iss": None},
    "issuer of another": {"iss": "https://evil.example"},
    "issuer with a slash": {"iss": ISSUER + "/"},
    "issuer that is a list": {"iss": [ISSUER]},
    "expired": {"exp": NOW - LEEWAY - 1},
    "expired at the leeway": {"exp": NOW - LEEWAY},
    "expired within the leeway": {"exp": NOW - LEEWAY + 1},
    "expiry missing": {"exp": None},
    "expiry that is a text": {"exp": str(NOW + 60)},
    "expiry with a fraction": {"exp": NOW + 60.5},
    "expiry that is negative": {"exp": -1},
    "expiry beyond 2 to the 53": {"exp": 2**53 + 2},
    "expiry that is true": {"exp": True},
    "not before, later": {"nbf": NOW + LEEWAY + 1},
    "not before, within the leeway": {"nbf": NOW + LEEWAY},
    "not before, a text": {"nbf": str(NOW)},
    "issued later": {"iat": NOW + LEEWAY + 1},
    "issued within the leeway": {"iat": NOW + LEEWAY},
    "issued at a text": {"iat": "yesterday"},
    "subject missing": {"sub": None},
    "subject that is a number": {"sub": 7},
    "subject of 257 bytes": {"sub": "s" * 257},
    "bound to a key": {"cnf": {"jkt": "abc"}},
    "an ID token": {"nonce": "n", "scope": None, "client_id": None},
    "scope that is a number": {"scope": 1},
    "101 claims": {f"c{number}": number for number in range(101)},
    "nine levels": {"x": json.loads("[" * 9 + "]" * 9)},
}
HEADERS = {
    "typ JWT": {"typ": "JWT"},
    "typ missing": {"typ": None},
    "typ application/at+jwt": {"typ": "application/at+JWT"},
    "typ of a proof": {"typ": "dpop+jwt"},
    "algorithm none": {"alg": "none"},
    "algorithm None": {"alg": "None"},
    "algorithm missing": {"alg": None},
    "algorithm unknown": {"alg": "RS999"},
    "kid unknown": {"kid": "no-such-key"},
    "kid that is a path": {"kid": "../../etc/passwd"},
    "kid that is a number": {"kid": 7},
    "crit": {"crit": ["exp"]},
    "crit empty": {"crit": []},
    "b64 false": {"b64": False},
    "b64 false and critical": {"b64": False, "crit": ["b64"]},
    "jku": {"jku": "https://evil.example/keys"},
    "jwk": {"jwk": {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}},
    "x5u": {"x5u": "https://evil.example/cert"},
    "x5t": {"x5t": "abc"},
    "zip": {"zip": "DEF"},
    "cty JWT": {"cty": "JWT"},
}
FORMS = [
    "a byte of the header", "a byte of the claims", "a byte of the signature", "cut", "a letter more", "padding", "four segments",
    "two segments", "no signature", "another key", "another algorithm of the key", "HMAC with the public key", "signature in DER",
    "salt of another length", "salt of no length", "claims twice", "header twice", "bits that say nothing", "text for claims",
]
# What not every algorithm has.
OF_SOME = {
    "another algorithm of the key": RSA,
    "signature in DER": list(CURVES),
    "salt of another length": RSA[3:],
    "salt of no length": RSA[3:],
}
KINDS = ["good", *CLAIMS, *HEADERS, *FORMS, *FORMS[:3]]


def changed(members, changes):
    return {name: value for name, value in (members | changes).items() if value is not None}


def make(keys, kind, chance):
    algorithm = chance.choice(OF_SOME.get(kind, ALGORITHMS))
    kid = "rsa" if algorithm in RSA else algorithm
    if algorithm == "PS256" and chance.random() < 0.5:
        kid = "rsa-ps256"
    private, _public = keys[kid]
    header = changed({"alg": algorithm, "kid": kid, "typ": "at+jwt"}, HEADERS.get(kind, {}))
    scope = " ".join(chance.sample(["mcp:use", "files:read", "files:write", "admin"], chance.randrange(4)))
    claims = {"iss": ISSUER, "aud": RESOURCE, "sub": f"user-{chance.randrange(999)}", "client_id": "c", "scope": scope, "exp": NOW + chance.randrange(1, 3600), "iat": NOW}
    claims = changed(claims, CLAIMS.get(kind, {}))
    parts = [json.dumps(header), json.dumps(claims)]
    if kind == "claims twice":
        parts[1] = '{"sub": "eve", ' + parts[1][1:]
    if kind == "header twice":
        parts[0] = '{"alg": "none", ' + parts[0][1:]
    if kind == "text for claims":
        parts[1] = '"claims"'
    message = ".".join(encode(part.encode()) for part in parts)
    signature = other_signature(kind, keys, algorithm, kid, message.encode()) or sign(private, algorithm, message.encode())
    return reshaped(kind, message + "." + encode(signature), chance)


def other_signature(kind, keys, algorithm, kid, message):
    private, public = keys[kid]
    if kind == "another key":
        other = make_keys.spare[kid][0]
        return sign(other, algorithm, message)
    if kind == "another algorithm of the key":
        return sign(private, RSA[(RSA.index(algorithm) + 1) % len(RSA)], message)
    if kind == "HMAC with the public key":
        return hmac.new(json.dumps(public).encode(), message, hashlib.sha256).digest()
    if kind == "signature in DER":
        return sign(private, algorithm, message, der=True)
    if kind.startswith("salt of"):
        return sign(private, algorithm, message, salt=0 if "no length" in kind else 20)
    return None


def reshaped(kind, token, chance):
    header, claims, signature = token.split(".")
    if kind.startswith("a byte of"):
        parts = [header, claims, signature]
        place = ["header", "claims", "signature"].index(kind.split()[-1])
        at = chance.randrange(len(parts[place]))
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=~"
        letter = chance.choice(letters.replace(parts[place][at], ""))
        parts[place] = parts[place][:at] + letter + parts[place][at + 1 :]
        return ".".join(parts)
    return {
        "cut": token[: chance.randrange(1, len(token))],
        "a letter more": token + "A",
        "padding": token + "=" * chance.randrange(1, 4),
        "four segments": token + ".e30",
        "two segments": header + "." + claims,
        "no signature": header + "." + claims + ".",
        "bits that say nothing": with_bits(token),
    }.get(kind, token)


def with_bits(token):
    """The last letter with the next value: the same bytes to a careless reader, where it has bits to spare."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return token[:-1] + letters[letters.index(token[-1]) ^ 1]


def by_pyjwt(token, key_set):
    try:
        header = jwt.get_unverified_header(token)
        named = [key for key in key_set.keys if key.key_id == header.get("kid")]
        # A key of its own would be one for RS256 only, whatever it says.
        declared = named[0]._jwk_data.get("alg")
        required = {"require": ["exp", "iss", "aud", "sub"]}
        allowed = [declared] if declared else ALGORITHMS
        jwt.decode(token, named[0].key, allowed, required, audience=RESOURCE, issuer=ISSUER, leeway=LEEWAY)
        return True
    except (jwt.PyJWTError, IndexError):
        return False


def by_joserfc(token, key_set):
    rules = jose_jwt.JWTClaimsRegistry(
        now=NOW, leeway=LEEWAY, iss={"essential": True, "value": ISSUER}, aud={"essential": True, "value": RESOURCE},
        sub={"essential": True}, exp={"essential": True},
    )
    try:
        rules.validate(jose_jwt.decode(token, key_set, algorithms=ALGORITHMS).claims)
        return True
    except Exception:  # It raises much more than its own errors.
        return False


def main(count):
    warnings.simplefilter("ignore")
    keys, make_keys.spare = make_keys(), make_keys()
    published = {"keys": [public for _private, public in keys.values()]}
    judges = jwt.PyJWKSet.from_dict(published), jose_jwk.KeySet.import_key_set(published)
    print(json.dumps(published))
    for place in range(count):
        kind = KINDS[place % len(KINDS)]
        token = make(keys, kind, random.Random(place))
        print(json.dumps({"kind": kind, "token": token, "pyjwt": by_pyjwt(token, judges[0]), "joserfc": by_joserfc(token, judges[1])}))


main(int(sys.argv[1]))
