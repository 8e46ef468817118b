"""A bot and its tests, with pytest and the standard library alone."""

import hashlib
import hmac
import json
import os
import re
import shlex
import subprocess
import tempfile
import threading
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

# Of the demo world.
APP, NUMBER, SECRET = "3000000000000001", "4000000000000001", b"shrub-app-secret"
ACCOUNT, USER, VERIFY = "1000000000000001", "16505551234", "test-verify-token"
COMMAND = shlex.split(os.environ.get("SWITCHBOARD_COMMAND", "npx @switchboard/server"))


class Switchboard:
    def __init__(self, url):
        self.url = url

    def call(self, method, path, token, body=None, **query):
        url = f"{self.url}{path}?{urllib.parse.urlencode(query)}"
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from None

    def send_text(self, to, body):
        message = {"messaging_product": "msgapp", "to": to, "type": "text", "text": {"body": body}}
        return self.call("POST", f"/v23.0/{NUMBER}/messages", "demo-token", message)

    def user_writes(self, body):
        message = {"phone_number_id": NUMBER, "from": USER, "type": "text", "text": {"body": body}}
        return self.call("POST", "/gateway/messages", "demo-gateway-token", message)["message_id"]

    def wait_on_phone(self, after):
        query = {"user_wa_id": USER, "phone_number_id": NUMBER, "after": after, "timeout": "5s"}
        return self.call("GET", "/gateway/wait", "demo-gateway-token", **query)

    def wait_for(self, **query):
        return self.call("GET", "/operator/wait", "demo-operator-token", timeout="5s", **query)


@pytest.fixture(scope="session")
def sb():
    with tempfile.TemporaryDirectory() as folder:
        command = [*COMMAND, "serve", "--port", "0", "--data", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            ready = re.match(r"switchboard listening on (\S+)", server.stdout.readline())
            assert ready, "the server did not start"
            yield Switchboard(ready[1])
            server.terminate()


@pytest.fixture()
def bot(sb):
    """The app under test: it echoes what users write."""

    class Bot(BaseHTTPRequestHandler):
        def do_GET(self):  # the handshake
            query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
            self.respond(200 if query.get("hub.verify_token") == VERIFY else 403, query.get("hub.challenge", ""))

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            signature = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
            if not hmac.compare_digest(signature, self.headers["X-Hub-Signature-256"]):
                return self.respond(401)
            for entry in json.loads(body)["entry"]:
                for change in entry["changes"]:
                    for message in change["value"].get("messages", []):
                        sb.send_text(message["from"], f"You wrote: {message['text']['body']}")
            self.respond(200)

        def respond(self, status, text=""):
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Bot) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sb.call("POST", "/operator/reset", "demo-operator-token")
        callback = {"object": "msgapp_business_account", "fields": ["messages"], "verify_token": VERIFY}
        callback["callback_url"] = f"http://127.0.0.1:{server.server_port}/"
        sb.call("POST", f"/v23.0/{APP}/subscriptions", "demo-token", callback)
        sb.call("POST", f"/v23.0/{ACCOUNT}/subscribed_apps", "demo-token", {})
        yield server
        server.shutdown()


def test_it_echoes(sb, bot):
    written = sb.user_writes("Hello?")
    reply = sb.wait_on_phone(after=written)
    assert reply["text"]["body"] == "You wrote: Hello?"
    status = sb.wait_for(type="event", field="messages", kind="delivered", since="1m")
    assert status["data"]["value"]["statuses"][0]["id"] == reply["id"]
