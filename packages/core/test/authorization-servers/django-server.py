# django-oauth-toolkit: an authorization server and an API that takes its tokens, behind a TLS terminator.
import json
import logging
import sys
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import django
from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import include, path

lifetime = int(sys.argv[2])

settings.configure(
    ALLOWED_HOSTS=["localhost", "127.0.0.1"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "oauth2_provider",
    ],
    # adds the slash at the end of the metadata's path by a redirect
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    OAUTH2_PROVIDER={
        "ACCESS_TOKEN_EXPIRE_SECONDS": lifetime,
        "OIDC_ENABLED": True,
        "SCOPES": {"read": "Reading", "write": "Writing"},
    },
    ROOT_URLCONF=__name__,
    SECRET_KEY="of the tests",
    SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https"),
    USE_TZ=True,
)
django.setup()
logging.disable(logging.CRITICAL)
call_command("migrate", verbosity=0)

from oauth2_provider.models import Application
from oauth2_provider.views.generic import ProtectedResourceView


class Records(ProtectedResourceView):
    def get(self, request):
        return HttpResponse("a record")


def register(request):
    """What the tests set: the one client from now on."""
    registered = json.loads(request.body)
    Application.objects.all().delete()
    Application.objects.create(
        client_id=registered["clientId"],
        client_secret=registered["secrets"][0],
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_CLIENT_CREDENTIALS,
    )
    return HttpResponse()


urlpatterns = [
    path("client", register),
    path("records", Records.as_view()),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
]


class Handler(WSGIRequestHandler):
    def log_message(self, *args):
        pass


class Server(WSGIServer):
    request_queue_size = 64


# one thread, since each would have a database in memory of its own
http = Server(("127.0.0.1", 0), Handler)
http.set_app(get_wsgi_application())
print(http.server_port, flush=True)
http.serve_forever()
