/** A receiver of webhooks in each language: answers the handshake, checks the signature of the exact bytes, prints what came. */
export interface Snippet {
  readonly name: string
  readonly file: string
  /** How it is started, with the two secrets before it. */
  readonly command: string
  readonly text: string
}

/** Not taken from `PORT`, which may be set for the service itself. */
export const receiverPort = 3000
export const receiverUrl = `http://127.0.0.1:${receiverPort}/`

export const snippets: readonly Snippet[] = [
  {
    name: 'Node',
    file: 'receiver.mjs',
    command: 'node receiver.mjs',
    text: `import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

createServer(async (request, response) => {
  const { searchParams: asked } = new URL('http://localhost' + request.url)
  const isKnown = asked.get('hub.verify_token') === process.env.VERIFY_TOKEN
  if (request.method === 'GET') return response.writeHead(isKnown ? 200 : 403).end(isKnown ? asked.get('hub.challenge') : '')
  const body = await buffer(request).catch(() => undefined)
  if (!body) return // The connection broke off.
  const expected = Buffer.from('sha256=' + createHmac('sha256', process.env.APP_SECRET).update(body).digest('hex'))
  const given = Buffer.from(request.headers['x-hub-signature-256'] ?? '')
  const isGood = given.length === expected.length && timingSafeEqual(given, expected)
  response.writeHead(isGood ? 200 : 401).end()
  console.log(isGood ? body.toString() : 'wrong signature')
}).listen(Number(process.env.RECEIVER_PORT ?? ${receiverPort}), '127.0.0.1', () => console.log('listening'))
`,
  },
  {
    name: 'Python',
    file: 'receiver.py',
    command: 'python3 receiver.py',
    text: `import hashlib, hmac, os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

class Receiver(BaseHTTPRequestHandler):
    def do_GET(self):
        asked = parse_qs(urlparse(self.path).query)
        known = asked.get("hub.verify_token") == [os.environ["VERIFY_TOKEN"]]
        self.send_response(200 if known else 403)
        self.end_headers()
        if known:
            self.wfile.write(asked["hub.challenge"][0].encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        expected = "sha256=" + hmac.new(os.environ["APP_SECRET"].encode(), body, hashlib.sha256).hexdigest()
        good = hmac.compare_digest(expected, self.headers.get("x-hub-signature-256", ""))
        self.send_response(200 if good else 401)
        self.send_header("content-length", "0")
        self.end_headers()
        print(body.decode() if good else "wrong signature", flush=True)

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("RECEIVER_PORT", "${receiverPort}"))), Receiver)
print("listening", flush=True)
server.serve_forever()
`,
  },
  {
    name: 'Go',
    file: 'receiver.go',
    command: 'go run receiver.go',
    text: `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
)

func receive(response http.ResponseWriter, request *http.Request) {
	if request.Method == "GET" {
		asked := request.URL.Query()
		if asked.Get("hub.verify_token") != os.Getenv("VERIFY_TOKEN") {
			response.WriteHeader(403)
			return
		}
		fmt.Fprint(response, asked.Get("hub.challenge"))
		return
	}
	body, _ := io.ReadAll(request.Body)
	mac := hmac.New(sha256.New, []byte(os.Getenv("APP_SECRET")))
	mac.Write(body)
	expected := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	if !hmac.Equal([]byte(expected), []byte(request.Header.Get("X-Hub-Signature-256"))) {
		response.WriteHeader(401)
		fmt.Println("wrong signature")
		return
	}
	fmt.Println(string(body))
}

func main() {
	port := os.Getenv("RECEIVER_PORT")
	if port == "" {
		port = "${receiverPort}"
	}
	fmt.Println("listening")
	panic(http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(receive)))
}
`,
  },
  {
    name: 'PHP',
    file: 'receiver.php',
    command: `php -S 127.0.0.1:${receiverPort} receiver.php`,
    text: `<?php
if ($_SERVER['REQUEST_METHOD'] === 'GET') {
    // PHP writes the dots in names of arguments as underscores.
    $known = ($_GET['hub_verify_token'] ?? '') === getenv('VERIFY_TOKEN');
    http_response_code($known ? 200 : 403);
    echo $known ? $_GET['hub_challenge'] : '';
    return;
}
$body = file_get_contents('php://input');
$expected = 'sha256=' . hash_hmac('sha256', $body, getenv('APP_SECRET'));
$good = hash_equals($expected, $_SERVER['HTTP_X_HUB_SIGNATURE_256'] ?? '');
http_response_code($good ? 200 : 401);
file_put_contents('php://stdout', ($good ? $body : 'wrong signature') . "\\n");
`,
  },
]

/** A value as a shell takes it, whatever is in it. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
