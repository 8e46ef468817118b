import { readFile } from 'node:fs/promises'
import { createServer, request as requestHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'

const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' }

export interface PageServer {
  readonly port: number
  close(): Promise<void>
}

/**
 * Serves the pages of an app as its own server would: files as they are, some texts, and everything else from the API, so that pages
 * and API have one origin.
 */
export async function servePages(folder: string, texts: Readonly<Record<string, string>>, api: string) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const text = texts[pathname] ?? (await readFile(join(folder, normalize(pathname)), 'utf8').catch(() => undefined))
    if (text !== undefined) {
      response.setHeader('content-type', types[extname(pathname)] ?? 'text/plain')
      return response.end(text)
    }
    const { method, headers } = request
    const asked = requestHttp(new URL(request.url ?? '/', api), {
      ...(method !== undefined && { method }),
      headers: { ...headers, host: new URL(api).host },
    })
    asked.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    asked.on('error', () => response.destroy())
    response.on('close', () => asked.destroy())
    request.pipe(asked)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const pages: PageServer = {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => {
        server.close(() => resolve())
      })
    },
  }
  return pages
}
