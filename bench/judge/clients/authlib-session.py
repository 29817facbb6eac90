# Authlib's session for requests, as its documentation shows client credentials.
from authlib.integrations.requests_client import OAuth2Session
from callers import calls_until_stopped, variable


def client(prefix):
    session = OAuth2Session(
        variable(prefix + "_CLIENT_ID"),
        variable(prefix + "_CLIENT_SECRET"),
        scope=variable(prefix + "_SCOPE") or None,
        token_endpoint_auth_method="client_secret_post",
        token_endpoint=variable(prefix + "_TOKEN_URL"),
        grant_type="client_credentials",
    )

    def call(url):
        if not session.token:
            session.fetch_token()
        session.get(url)

    return call


calls_until_stopped(client)
