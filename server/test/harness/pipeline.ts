import { connect } from 'node:net'

/** The bytes of a request; a body is sent as JSON. */
export function requestBytes(method: string, path: string, token: string, { headers = '', json = '' } = {}): string {
  const body = json === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${body}${headers}\r\n${json}`
}

/** Sends bytes at once, and returns the responses when the other side has closed, or when there are enough. */
export function pipeline(
  url: string,
  bytes: string,
  enough: number,
): Promise<{ responses: string[]; isClosed: boolean }> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let received = ''
    const split = () => received.split(/(?=HTTP\/1\.1 \d{3} )/).filter((one) => one !== '')
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      received += chunk
      const responses = split()
      if (responses.length < enough || !responses.at(-1)?.trimEnd().endsWith('}')) return
      resolve({ responses, isClosed: false })
      socket.destroy()
    })
    socket.on('close', () => resolve({ responses: split(), isClosed: true }))
    socket.on('error', reject)
  })
}

export const statusOf = (response: string) => Number(response.slice(9, 12))
