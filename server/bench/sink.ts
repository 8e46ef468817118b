import { createServer } from 'node:http'

/** Takes what is posted to it, after so many milliseconds if that is asked for, and says at GET how much that was. */
const delay = Number(process.argv[2] ?? 0)
let count = 0
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(String(count))
    return
  }
  request.resume()
  request.on('end', () => {
    const answer = () => {
      count += 1
      response.end('ok')
    }
    if (delay > 0) setTimeout(answer, delay)
    else answer()
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  process.stdout.write(`sink listening on http://127.0.0.1:${port}\n`)
})
