import * as doors from './doors/errors.ts'
import * as delivery from './egress/errors.ts'
import * as graph from './graph/errors.ts'
import type { ErrorDefinition } from './graph/graph-error.ts'
import * as http from './http/errors.ts'
import * as limits from './limits/errors.ts'
import * as account from './resources/account/errors.ts'
import * as bot from './resources/bot/errors.ts'
import * as calls from './resources/calls/errors.ts'
import * as sdp from './resources/calls/sdp/errors.ts'
import * as compliance from './resources/compliance/errors.ts'
import * as console from './resources/console/errors.ts'
import * as encryption from './resources/encryption/errors.ts'
import * as groups from './resources/groups/errors.ts'
import * as media from './resources/media/errors.ts'
import * as messages from './resources/messages/errors.ts'
import * as onbehalf from './resources/onbehalf/errors.ts'
import * as operators from './resources/operators/errors.ts'
import * as phoneNumbers from './resources/phone-numbers/errors.ts'
import * as portfolio from './resources/portfolio/errors.ts'
import * as profile from './resources/profile/errors.ts'
import * as sandbox from './resources/sandbox/errors.ts'
import * as schedules from './resources/schedules/errors.ts'
import * as dialog from './resources/sign-up/dialog/errors.ts'
import * as exchange from './resources/sign-up/exchange-errors.ts'
import * as solutions from './resources/solutions/errors.ts'
import * as onboarding from './resources/solutions/onboarding-errors.ts'
import * as templates from './resources/templates/errors.ts'
import * as templateSending from './resources/templates/sending/sending-errors.ts'
import * as tokens from './resources/tokens/errors.ts'
import * as uploads from './resources/uploads/errors.ts'
import * as users from './resources/users/errors.ts'
import * as webhooks from './resources/webhooks/errors.ts'

export interface CatalogueEntry {
  readonly definition: ErrorDefinition
  /** The file under `server/src` that defines it. */
  readonly file: string
}

/** THE CATALOGUE: every error of the API, by the file that defines it: the shared ones, then chapter by chapter. */
const files: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'http/errors.ts': http,
  'graph/errors.ts': graph,
  'limits/errors.ts': limits,
  'doors/errors.ts': doors,
  'egress/errors.ts': delivery,
  'resources/calls/errors.ts': calls,
  'resources/calls/sdp/errors.ts': sdp,
  'resources/profile/errors.ts': profile,
  'resources/tokens/errors.ts': tokens,
  'resources/uploads/errors.ts': uploads,
  'resources/account/errors.ts': account,
  'resources/encryption/errors.ts': encryption,
  'resources/groups/errors.ts': groups,
  'resources/phone-numbers/errors.ts': phoneNumbers,
  'resources/media/errors.ts': media,
  'resources/messages/errors.ts': messages,
  'resources/users/errors.ts': users,
  'resources/bot/errors.ts': bot,
  'resources/schedules/errors.ts': schedules,
  'resources/templates/errors.ts': templates,
  'resources/templates/sending/sending-errors.ts': templateSending,
  'resources/sign-up/dialog/errors.ts': dialog,
  'resources/sign-up/exchange-errors.ts': exchange,
  'resources/solutions/errors.ts': solutions,
  'resources/solutions/onboarding-errors.ts': onboarding,
  'resources/compliance/errors.ts': compliance,
  'resources/console/errors.ts': console,
  'resources/portfolio/errors.ts': portfolio,
  'resources/onbehalf/errors.ts': onbehalf,
  'resources/webhooks/errors.ts': webhooks,
  'resources/operators/errors.ts': operators,
  'resources/sandbox/errors.ts': sandbox,
}

export function listErrors(): CatalogueEntry[] {
  return Object.entries(files).flatMap(([file, exported]) =>
    Object.values(exported)
      .filter(isDefinition)
      .map((definition) => ({ definition, file })),
  )
}

/** Such a file may also hold a limit that its sentences name. */
function isDefinition(value: unknown): value is ErrorDefinition {
  return typeof value === 'function' && 'id' in value
}
