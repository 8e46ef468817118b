import { connect } from 'node:net'

/** Sends a request on each of some connections, and the next after each response, until it is stopped. */
export function repeatRequests(
  url: string,
  connections: number,
  next: () => Uint8Array,
  onAnswer: (status: number) => void,
): () => void {
  const { hostname, port } = new URL(url)
  const stops = Array.from({ length: connections }, () => {
    let isStopped = false
    let socket = open()
    function reopen(): void {
      if (!isStopped) socket = open()
    }
    function open() {
      const opened = connect(Number(port), hostname)
      let received = ''
      opened.setEncoding('latin1')
      opened.on('connect', () => opened.write(next()))
      opened.on('data', (chunk: string) => {
        received += chunk
        const end = received.indexOf('\r\n\r\n')
        const head = received.slice(0, Math.max(0, end))
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1])
        if (end < 0 || received.length < end + 4 + length) return
        received = ''
        onAnswer(Number(head.slice(9, 12)))
        if (isStopped || /^connection: close/im.test(head)) opened.destroy()
        else opened.write(next())
      })
      // Closed by the other side while there is still something to send.
      opened.on('error', () => {})
      opened.on('close', () => {
        setImmediate(reopen)
      })
      return opened
    }
    return () => {
      isStopped = true
      socket.destroy()
    }
  })
  return () => {
    for (const stop of stops) stop()
  }
}
