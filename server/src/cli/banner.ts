import { resolveNode } from '../auth/access.ts'
import { authenticate } from '../auth/bearer.ts'
import type { Clock } from '../base/clock.ts'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { GraphError } from '../graph/errors.ts'
import { packageVersion } from '../version.ts'

/** What worlds/demo.yaml calls them. */
export const demoToken = 'demo-token'
const demoNumber = '4000000000000001'

/** What a newcomer needs after `npm start`: where things are, and one line to paste. */
export async function composeBanner(
  database: Database,
  clock: Clock,
  publicUrl: string,
  config: Config,
): Promise<string> {
  const base = `${publicUrl}/${config.versions.at(-1)}`
  const places = [
    '',
    `  Switchboard ${packageVersion()}`,
    '',
    `  API      ${base}`,
    `  Console  ${publicUrl}/`,
    `  Docs     ${publicUrl}/docs`,
  ]
  const lines = (await isDemoStore(database, clock))
    ? [
        ...places,
        `  Token    ${demoToken}`,
        '',
        '  Try it:',
        `    curl -H 'Authorization: Bearer ${demoToken}' '${base}/${demoNumber}?fields=name_status'`,
      ]
    : [...places, '', '  Make a token:', '    ./switchboard token create --app <ID>']
  return `${[...lines, '', '  Ctrl-C stops it.', ''].join('\n')}\n`
}

/** Whether the line to paste would work: the demo token is good and sees the demo number. */
async function isDemoStore(database: Database, clock: Clock): Promise<boolean> {
  try {
    const caller = await authenticate(database.read, clock, `Bearer ${demoToken}`)
    await resolveNode(database.read, caller, demoNumber)
    return true
  } catch (error) {
    if (error instanceof GraphError) return false
    throw error
  }
}
