# Calls the general API until it is stopped, with Python's standard library: all threads share one token.
import json
import os
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

lock = threading.Lock()
token = None
numbers = iter(range(1, 10_000_000))


def new_token(refused):
    """Returns a token other than the refused one. One thread asks for it, the others wait."""
    global token
    with lock:
        while token is None or token == refused:
            with open(os.environ["GENERAL_CREDENTIALS_FILE"]) as file:
                credentials = json.load(file)
            form = {
                "grant_type": "client_credentials",
                "client_id": credentials["clientId"],
                "client_secret": credentials["clientSecret"],
            }
            body = urllib.parse.urlencode(form).encode()
            try:
                with urllib.request.urlopen(os.environ["GENERAL_TOKEN_URL"], body, timeout=10) as response:
                    token = json.load(response)["access_token"]
            except (OSError, ValueError, KeyError):
                time.sleep(0.5)
        return token


def call(url):
    current = token or new_token(None)
    for _ in range(2):
        request = urllib.request.Request(url, headers={"Authorization": "Bearer " + current})
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            if error.code != 401:
                raise
            current = new_token(current)


def caller():
    while True:
        with lock:
            number = next(numbers)
        try:
            call(f"{os.environ['API_URL']}records/INV-{number:07}")
        except OSError:
            pass
        time.sleep(0.02)


for _ in range(int(os.environ["CALLERS"])):
    threading.Thread(target=caller, daemon=True).start()
threading.Event().wait()
