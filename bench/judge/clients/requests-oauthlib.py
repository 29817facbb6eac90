# requests-oauthlib, as its documentation shows the backend application and the refresh of a token.
from callers import calls_until_stopped, variable
from oauthlib.oauth2 import BackendApplicationClient, TokenExpiredError
from requests_oauthlib import OAuth2Session


def client(prefix):
    client_id = variable(prefix + "_CLIENT_ID")
    scope = variable(prefix + "_SCOPE")
    oauth = OAuth2Session(client=BackendApplicationClient(client_id=client_id, scope=scope or None))

    def fetch_token():
        oauth.fetch_token(
            token_url=variable(prefix + "_TOKEN_URL"),
            client_secret=variable(prefix + "_CLIENT_SECRET"),
            include_client_id=True,
        )

    def call(url):
        if not oauth.authorized:
            fetch_token()
        try:
            oauth.get(url)
        except TokenExpiredError:
            fetch_token()
            oauth.get(url)

    return call


calls_until_stopped(client)
