import type { Log } from '../../../base/log/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type ChosenSource, type CredentialSettings, chooseSource } from './choose.ts'
import { openContainer } from './container.ts'
import { type CredentialProvider, makeStaticProvider, type RoleSource } from './credentials.ts'
import { openInstanceMetadata } from './instance-metadata.ts'
import { RoleCredentials } from './role-credentials.ts'
import { openWebIdentity } from './web-identity.ts'

/** Opens the credentials for object storage in a region, and logs where they come from. */
export function openCredentials(
  settings: CredentialSettings,
  region: string,
  { clock, log }: { clock: Clock; log: Log },
): CredentialProvider {
  const chosen = chooseSource(settings, region)
  log.info({ source: chosen.from }, 'credentials for the object storage come from this source')
  if (chosen.from === 'AWS_ACCESS_KEY_ID') return makeStaticProvider(chosen)
  return new RoleCredentials(openSource(chosen), { clock, log })
}

function openSource(chosen: Exclude<ChosenSource, { from: 'AWS_ACCESS_KEY_ID' }>): RoleSource {
  if (chosen.from === 'web identity') return openWebIdentity(chosen)
  if (chosen.from === 'container') return openContainer(chosen)
  return openInstanceMetadata(chosen)
}
