import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listWorlds } from './event-loop/requests.ts'
import { openSender } from './event-loop/send.ts'
import { startFuzzedServer } from './fuzz/server.ts'

/** As in event-loop.long.test.ts, where the measure is explained. */
const maxRatio = 3
const maxTries = 6

test('a world file as large as it may be does not hold the event loop', async (t) => {
  const server = await startFuzzedServer('sqlite')
  const sender = openSender(server.url)
  t.after(async () => {
    sender.close()
    await server.stop()
  })
  const allowed = maxRatio * (await server.calibrate())
  for (const request of listWorlds()) {
    let best = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < maxTries && best > allowed; attempt++) {
      const turn = await server.longestTurn(async () => {
        const { status, text } = await sender.send(request, attempt)
        assert.ok(status === 200 || status === 400, `${request.name}: ${status} ${text.slice(0, 300)}`)
      })
      best = Math.min(best, turn)
    }
    t.diagnostic(`${request.name}: ${Math.round(best)} ms, where ${Math.round(allowed)} are allowed`)
    assert.ok(best <= allowed, `${request.name}: ${Math.round(best)} ms, where ${Math.round(allowed)} are allowed`)
  }
})
