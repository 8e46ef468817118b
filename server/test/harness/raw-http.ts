import { connect } from 'node:net'

/** Sends raw bytes and returns everything received until the other side closed, or the response was complete. */
export function exchangeBytes(url: string, bytes: string | Uint8Array): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.setEncoding('latin1')
    socket.setTimeout(60_000, () => socket.destroy(new Error(`no answer within 60 s; so far: ${received}`)))
    socket.on('data', (chunk: string) => {
      received += chunk
      if (isWhole(received)) socket.end()
    })
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
  })
}

/** Whether one response with a Content-Length has arrived completely, or one that goes on has begun. */
function isWhole(received: string): boolean {
  const end = received.indexOf('\r\n\r\n')
  if (end > 0 && /^content-type: text\/event-stream/im.test(received.slice(0, end))) return true
  const length = /^content-length: (\d+)/im.exec(received.slice(0, end))?.[1]
  return end > 0 && length !== undefined && received.length >= end + 4 + Number(length)
}

export function readRawAnswer(received: string): { status: number; head: string; body: string } {
  const end = received.indexOf('\r\n\r\n')
  return { status: Number(received.slice(9, 12)), head: received.slice(0, end), body: received.slice(end + 4) }
}
