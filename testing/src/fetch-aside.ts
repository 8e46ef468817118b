import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'
import type { Fetch } from '@switchboard/client'

/**
 * `fetch` for what goes on beside the tests: once it is answered, its connection does not keep the process alive. A test that forgets
 * to close what it made ends all the same.
 */
export const fetchAside: Fetch = (url, { method = 'GET', headers, signal }) =>
  new Promise((resolve, reject) => {
    const request = url.startsWith('https:') ? requestHttps : requestHttp
    const options = { method, headers: headers as Record<string, string>, agent: false, ...(signal && { signal }) }
    const asked = request(url, options, (answer: IncomingMessage) => {
      answer.socket.unref()
      const body = Readable.toWeb(answer) as ReadableStream<Uint8Array>
      const names = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
      resolve(new Response(body, { status: answer.statusCode ?? 500, headers: names }))
    })
    asked.on('error', reject)
    asked.end()
  })
