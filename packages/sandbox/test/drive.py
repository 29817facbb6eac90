"""Drives a sandbox from its first line to its verdict, with Python's standard library alone.

usage: python3 drive.py <command that starts the sandbox, with --json> ...
"""

import atexit
import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
atexit.register(process.kill)
sandbox = json.loads(process.stdout.readline())
trust = ssl.create_default_context(cafile=sandbox["ca"])
# what a runtime leaves open may be older; the verdict would say so
trust.minimum_version = ssl.TLSVersion.TLSv1_2


def ask(url, body=None, headers={}, context=None):
    """Returns status, headers and text of a response, whatever its status."""
    request = urllib.request.Request(url, data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, context=context) as response:
            return response.status, response.headers, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def control(function, **parameters):
    """Calls a control function; those that only read are a GET."""
    bearer = {"Authorization": "Bearer " + sandbox["token"]}
    url = sandbox["control"] + "/v1/" + function
    if reads(function):
        query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
        status, _, text = ask(url + query, headers=bearer)
    else:
        status, _, text = ask(url, json.dumps(parameters).encode(), bearer)
    assert status == 200, (function, status, text)
    return json.loads(text)


openapi = json.loads(ask(sandbox["control"] + "/openapi.json")[2])


def reads(function):
    return "get" in openapi["paths"]["/v1/" + function]


def token_request():
    env = control("environment")
    form = {
        "grant_type": "client_credentials",
        "client_id": env["WEBLINK_CLIENT_ID"],
        "client_secret": env["WEBLINK_CLIENT_SECRET"],
        "scope": "WebLinkAPI",
    }
    url = sandbox["weblinkAuthUrl"] + "/IdentityServer/connect/token"
    status, headers, text = ask(url, urllib.parse.urlencode(form).encode(), context=trust)
    return status, headers, json.loads(text)


def call(token, path="records?page=1&size=10"):
    headers = {"Authorization": "Bearer " + token}
    return ask(sandbox["weblinkUrl"] + path, headers=headers, context=trust)


def fails(act):
    try:
        act()
    except (OSError, http.client.HTTPException):
        return True
    return False


# a client that behaves: a token, a call, another token when the first one has ended
token = token_request()[2]["access_token"]
status, _, text = call(token)
assert status == 200 and json.loads(text)["total"] == 5000
control("expire-tokens", issuer="weblink")
assert call(token)[0] == 401
token = token_request()[2]["access_token"]
assert call(token)[0] == 200
assert control("verdict") == {"ok": True, "findings": []}, control("verdict")

# every kind of fault
control("revoke-tokens", issuer="weblink")
assert call(token)[0] == 401
control("set-token-lifetime", lifetime=1500)
assert token_request()[2]["expires_in"] == 1.5
control("set-token-lifetime", lifetime=3600000, issuer="weblink")
rotated = control("rotate-secret", issuer="weblink", overlap=True)
assert rotated["clientSecret"] == control("environment")["WEBLINK_CLIENT_SECRET"]
assert control("state")["issuers"]["weblink"]["acceptedSecrets"] == 2
control("drop-old-secrets", issuer="weblink")
control("fail-issuer", issuer="weblink", status=503, retryAfter=7, times=1)
status, headers, _ = token_request()
assert (status, headers["Retry-After"]) == (503, "7")
control("slow-issuer", issuer="weblink", ms={"median": 2, "p99": 5})
control("set-issuer-clock", issuer="weblink", offset=-3600000)
assert control("state")["issuers"]["weblink"]["clockOffset"] == -3600000
control("kill-issuer", issuer="weblink", times=1)
assert fails(token_request)
control("restore-issuer")
token = token_request()[2]["access_token"]

control("fail-api", api="weblink", status=502, percent=100, times=1)
assert call(token)[0] == 502
control("kill-api", api="weblink", midBody=True, times=1)
assert fails(lambda: call(token))
control("slow-api", api="weblink", ms=1)
control("set-api-clock", api="weblink", offset=86400000)
policy = {"limits": [{"quota": 2, "window": 60000}], "headers": ["ratelimit", "x-ratelimit"]}
control("set-rate-policy", api="weblink", policy=policy)
assert call(token)[1]["X-RateLimit-Remaining"] == "1"
assert call(token)[0] == 200
status, headers, _ = call(token)
assert status == 429 and 0 < int(headers["Retry-After"]) <= 60, (status, headers)
assert control("state")["apis"]["weblink"]["windows"][0]["used"] == 3
control("set-rate-policy", api="weblink", policy=None)
control("restore-api", api="weblink")
control("play-scenario", steps=[{"after": 0, "do": "failApi", "api": "weblink", "status": 500, "for": "1h"}])
while control("state")["scenario"] != {"done": 1, "of": 1}:
    pass
assert call(token)[0] == 500
control("stop-scenario")
control("restore-api")

# what happened, and what was wrong
last = control("journal", target="weblink-api", limit=1)[0]
assert last["client"].startswith("Python-urllib/") and last["token"].startswith("weblink-")
assert control("journal", decision="limited")[0]["reason"] == "over the limit: 3 of 2 in 60 s"
over = [each for each in control("verdict")["findings"] if each["rule"] == "over-limit"][0]
assert control("journal", id=over["evidence"][0])[0]["status"] == 429
assert control("counts")["apis"]["weblink"]["limited"] == 1

# events, as they come
headers = {"Authorization": "Bearer " + sandbox["token"], "Last-Event-ID": str(last["id"] - 1)}
with urllib.request.urlopen(urllib.request.Request(sandbox["control"] + "/v1/events", headers=headers)) as events:
    assert events.readline() == b"event: journal\n"
    assert events.readline() == b"id: %d\n" % last["id"]
    assert json.loads(events.readline().removeprefix(b"data: ")) == last

# what HTTP control refuses
assert ask(sandbox["control"] + "/v1/counts")[0] == 401
bearer = {"Authorization": "Bearer " + sandbox["token"]}
assert ask(sandbox["control"] + "/v1/counts", headers={**bearer, "Host": "example.com"})[0] == 421
assert ask(sandbox["control"] + "/v1/counts", headers={**bearer, "Origin": "https://example.com"})[0] == 403
status, headers, text = ask(sandbox["control"] + "/v1/fail-api", b'{"api":"weblink","status":99}', bearer)
assert (status, headers["Content-Type"]) == (400, "application/problem+json")
assert json.loads(text)["detail"] == '"status" must be a whole number from 200 to 599, not 99'

# everything that the description names has been called but for these two
control("clear-journal")
control("reset-counts")
assert control("journal") == []
assert control("counts")["apis"]["weblink"]["calls"] == 0

process.send_signal(signal.SIGINT)
verdict = json.loads(process.stdout.readlines()[-1])["verdict"]
assert verdict == {"ok": True, "findings": []}
assert process.wait() == 0
assert not os.path.exists(sandbox["ca"])
print("driven")
