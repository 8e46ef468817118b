import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Random } from '../base/keys/random.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Database } from '../db/database.ts'
import { isUniqueViolation } from '../db/unique.ts'
import { storeBusy } from '../graph/errors.ts'
import type { WorldPort } from '../graph/ports.ts'
import { refuseWorld } from '../resources/operators/refuse-world.ts'
import { WorldRefused } from '../world-part/problems.ts'
import { prepareApply } from './apply.ts'
import { readWorld as readStore, writeWorldJson, writeYaml } from './export.ts'
import { limitEntries } from './limited-export.ts'
import { readWorldApart } from './read-apart.ts'

export interface WorldPortDeps {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly production: boolean
  readonly longIds: boolean
}

/** World files for the operator door. */
export function makeWorldPort({ database, clock, random, production, longIds }: WorldPortDeps): WorldPort {
  return {
    export(format, limits) {
      const write = format === 'yaml' ? writeYaml : writeWorldJson
      const stream = new PassThrough()
      const feed = database.snapshot((db) => {
        const entries = limits ? limitEntries(readStore(db), limits) : readStore(db)
        return pipeline(Readable.from(write(entries)), stream)
      })
      // A failure destroys the stream, and with it the connection.
      feed.catch((error: Error) => stream.destroy(error))
      return stream
    },
    async prepare(text) {
      const warnings: string[] = []
      const warn = (line: string) => void warnings.push(line.replace(/^: /, ''))
      const write = await explain(async () =>
        prepareApply(clock, random, await readWorldApart(text), { production, longIds, warn }),
      )
      return async (tx) => {
        warnings.length = 0
        const { created, updated, unchanged } = await explain(() => write(tx))
        return { created, updated, unchanged, warnings }
      }
    },
  }
}

async function explain<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof WorldRefused) throw refuseWorld(error)
    // Somebody took a phone number or a QR code between the check and the write.
    if (isUniqueViolation(error)) throw storeBusy({ seconds: 1 }, { cause: error })
    throw error
  }
}
