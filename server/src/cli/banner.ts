import { demoTokens } from '../auth/demo.ts'
import type { Clock } from '../base/clock.ts'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { demoNumber, findDemoCaller } from '../doors/public/demo.ts'
import { packageVersion } from '../version.ts'

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
  const lines = (await findDemoCaller(database.read, clock))
    ? [
        ...places,
        `  Token    ${demoTokens.owner}`,
        '',
        '  Try it:',
        `    curl -H 'Authorization: Bearer ${demoTokens.owner}' '${base}/${demoNumber}?fields=name_status'`,
      ]
    : [...places, '', '  Make a token:', '    ./switchboard token create --app <ID>']
  return `${[...lines, '', '  Ctrl-C stops it.', ''].join('\n')}\n`
}
