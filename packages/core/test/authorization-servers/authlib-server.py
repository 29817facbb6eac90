# Authlib with Flask: an authorization server and an API that takes its tokens, behind a TLS terminator.
import json
import ssl
import sys
import time
import urllib.request

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.jose import JsonWebKey
from authlib.oauth2.rfc6749 import ClientMixin, InvalidClientError, TokenMixin
from authlib.oauth2.rfc6749.grants import ClientCredentialsGrant
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from flask import Flask, jsonify, request
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.serving import make_server

issuer, lifetime = sys.argv[1], int(sys.argv[2])
METHODS = ["client_secret_basic", "client_secret_post", "private_key_jwt"]
SCOPES = ["read", "write"]

app = Flask(__name__)
app.wsgi_app = ProxyFix(app.wsgi_app)
app.config.update(
    OAUTH2_SCOPES_SUPPORTED=SCOPES,
    OAUTH2_TOKEN_EXPIRES_IN={"client_credentials": lifetime},
)
clients, tokens, seen = {}, {}, set()


class Client(ClientMixin):
    def __init__(self, registered):
        self.id = registered["clientId"]
        self.secrets = registered["secrets"]
        self.keys = JsonWebKey.import_key_set({"keys": registered["keys"]})
        # who may sign assertions in the client's place: issuer, subject, jwksUri and caFile
        self.trusts = registered.get("trusts") or {"issuer": None}

    def get_client_id(self):
        return self.id

    def get_allowed_scope(self, scope):
        return scope

    def check_client_secret(self, client_secret):
        return client_secret in self.secrets

    def check_endpoint_auth_method(self, method, endpoint):
        return method in METHODS

    def check_grant_type(self, grant_type):
        return grant_type == "client_credentials"


class Token(TokenMixin):
    def __init__(self, client, expires_in, scope=""):
        self.client, self.scope = client, scope
        self.expires_at, self.revoked = time.time() + expires_in, False

    def check_client(self, client):
        return self.client.id == client.id

    def get_scope(self):
        return self.scope

    def is_expired(self):
        return self.expires_at < time.time()

    def is_revoked(self):
        return self.revoked


def save_token(token, oauth_request):
    scope = token.get("scope", "")
    tokens[token["access_token"]] = Token(oauth_request.client, token["expires_in"], scope)


class Grant(ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS


class Assertion(JWTBearerClientAssertion):
    CLIENT_AUTH_METHOD = "private_key_jwt"

    def create_claims_options(self):
        options = super().create_claims_options()
        outside = {client.trusts["issuer"] for client in clients.values()}
        options["iss"]["validate"] = lambda claims, iss: iss == claims["sub"] or iss in outside
        return options

    def create_resolve_key_func(self, query_client, request):
        resolve_own_key = super().create_resolve_key_func(query_client, request)

        def resolve_key(headers, payload):
            client = query_client(request.form.get("client_id"))
            if client is None or payload["iss"] != client.trusts["issuer"]:
                return resolve_own_key(headers, payload)
            if payload["sub"] != client.trusts["subject"]:
                raise InvalidClientError()
            request.client = client
            return published_key(client.trusts, headers["kid"])

        return resolve_key

    def validate_jti(self, claims, jti):
        # a projected file holds the same assertion until it is replaced
        if claims["iss"] != claims["sub"]:
            return True
        is_new = jti not in seen
        seen.add(jti)
        return is_new

    def resolve_client_public_key(self, client, headers):
        return client.keys.find_by_kid(headers["kid"])


def published_key(trusts, kid):
    """The key that the outside issuer publishes now (RFC 7517)."""
    context = ssl.create_default_context(cafile=trusts["caFile"])
    with urllib.request.urlopen(trusts["jwksUri"], context=context, timeout=10) as response:
        keys = JsonWebKey.import_key_set(json.load(response))
    try:
        return keys.find_by_kid(kid)
    except ValueError:
        raise InvalidClientError()


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = METHODS

    def query_token(self, token_string, token_type_hint):
        return tokens.get(token_string)

    def revoke_token(self, token, request):
        token.revoked = True


class Validator(BearerTokenValidator):
    def authenticate_token(self, token_string):
        return tokens.get(token_string)


server = AuthorizationServer(app, clients.get, save_token)
server.register_grant(Grant)
server.register_client_auth_method("private_key_jwt", Assertion(f"{issuer}/token"))
server.register_endpoint(Revocation)
protected = ResourceProtector()
protected.register_token_validator(Validator())


@app.put("/client")
def register():
    """What the tests set: the one client from now on."""
    client = Client(request.get_json())
    clients.clear()
    clients[client.id] = client
    return ""


@app.post("/token")
def token():
    return server.create_token_response()


@app.post("/revoke")
def revoke():
    return server.create_endpoint_response("revocation")


@app.get("/records")
@protected()
def records():
    return "a record"


@app.get("/.well-known/oauth-authorization-server")
def metadata():
    published = AuthorizationServerMetadata(
        issuer=issuer,
        token_endpoint=f"{issuer}/token",
        revocation_endpoint=f"{issuer}/revoke",
        response_types_supported=[],
        grant_types_supported=["client_credentials"],
        scopes_supported=SCOPES,
        token_endpoint_auth_methods_supported=METHODS,
        token_endpoint_auth_signing_alg_values_supported=["RS256", "ES256", "EdDSA"],
    )
    published.validate_issuer()
    published.validate_token_endpoint()
    return jsonify(published)


http = make_server("127.0.0.1", 0, app, threaded=True)
print(http.port, flush=True)
http.serve_forever()
