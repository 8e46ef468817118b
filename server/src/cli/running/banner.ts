import { demoTokens } from '../../auth/demo.ts'
import { commandName } from '../../base/command-name.ts'
import { isLoopbackUrl } from '../../base/text/addresses.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { demoNumber, findDemoCaller } from '../../site/demo.ts'
import { packageVersion } from '../../version.ts'

/** What a newcomer needs after `npm start`: the addresses, and one line to paste. */
export async function composeBanner(
  database: Database,
  clock: Clock,
  address: string,
  config: Config,
): Promise<string> {
  const publicUrl = config.publicUrl ?? address
  const base = `${publicUrl}/${config.versions.newest}`
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
    : [...places, '', '  Make a token:', `    ${commandName()} token create --app <ID>`]
  return `${[...lines, '', ...warnOfExposure(address, config), '  Ctrl-C stops it.', ''].join('\n')}\n`
}

/** Outside production many things are allowed that only the person running the trial should reach. */
function warnOfExposure(address: string, { production, allowDemoTokens }: Config): string[] {
  if (production || isLoopbackUrl(address)) return []
  return [
    '  WARNING  Other machines can reach this server, and NODE_ENV is not production:',
    '           callbacks may lead to internal addresses, and the store was filled with a demo if it was empty.',
    allowDemoTokens
      ? '           ALLOW_DEMO_TOKENS is set: whoever has read the README has a token for it.'
      : '           The demo tokens work on this machine alone, unless ALLOW_DEMO_TOKENS=true.',
    '',
  ]
}
