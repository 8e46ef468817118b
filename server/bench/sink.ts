import { createServer } from 'node:http'

/** Takes what is posted to it at once, and says at GET how much that was. */
let count = 0
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(String(count))
    return
  }
  request.resume()
  request.on('end', () => {
    count += 1
    response.end('ok')
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  process.stdout.write(`sink listening on http://127.0.0.1:${port}\n`)
})
