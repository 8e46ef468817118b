import { subscribe } from 'node:diagnostics_channel'
import { openSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'

/** What may be wrong with a server: it crashes, it does not answer, or it leaves files and handles behind and does not stop. */
export type Damage = 'crash' | 'hang' | 'leak'

/** Every so many requests are harmed. */
const interval = 5

/** Makes a server that is damaged, for the proof that the fuzzer finds it. */
export function plantDamage(damage: Damage, dataDir: string): void {
  let requests = 0
  subscribe('http.server.request.start', (message) => {
    requests += 1
    if (requests % interval === 0) harm(damage, dataDir, requests, message as { response: ServerResponse })
  })
  if (damage === 'leak') {
    process.removeAllListeners('SIGTERM')
    process.on('SIGTERM', () => {})
  }
}

function harm(damage: Damage, dataDir: string, count: number, { response }: { response: ServerResponse }): void {
  switch (damage) {
    case 'crash':
      setImmediate(() => {
        throw new Error('a planted fault')
      })
      break
    case 'hang':
      response.writeHead = () => response
      response.end = () => response
      break
    case 'leak':
      openSync('/dev/null', 'r')
      writeFileSync(join(dataDir, 'files/incoming', `planted-${count}`), '')
  }
}
