# What docs/guide/judge.md asks of a program: threads that call until it is stopped.
import itertools
import os
import threading
import time


def variable(name):
    return os.environ.get(name, "")


def calls_until_stopped(client):
    """`client` takes the prefix of the variables of an API, and returns a function that calls a URL."""
    for prefix, base_url in (("GENERAL", variable("API_URL")), ("WEBLINK", variable("WEBLINK_URL"))):
        call = client(prefix)
        numbers = itertools.count(1)

        def caller(call=call, base_url=base_url, numbers=numbers):
            while True:
                try:
                    call(f"{base_url}records/INV-{next(numbers):07}")
                except Exception:
                    pass
                time.sleep(0.02)

        for _ in range(int(variable("CALLERS"))):
            threading.Thread(target=caller, daemon=True).start()
    threading.Event().wait()
