import { apiSettings } from './api.ts'
import { callsSettings } from './calls.ts'
import type { AnyRateClassName, Config } from './config.ts'
import { consoleSettings } from './console.ts'
import { credentialsSettings } from './credentials.ts'
import { mediaSettings } from './media.ts'
import { messagesSettings } from './messages.ts'
import { numbersSettings } from './numbers.ts'
import { processSettings } from './process.ts'
import { requestsSettings } from './requests.ts'
import type { Setting } from './setting.ts'
import { signUpSettings } from './sign-up.ts'
import { storeSettings } from './store.ts'
import { telemetrySettings } from './telemetry.ts'
import { templatesSettings } from './templates.ts'
import { webhooksSettings } from './webhooks.ts'

/** Every setting once, in the order in which they are read and in which docs/settings.md shows those of a group. */
export const settings = {
  ...processSettings,
  ...telemetrySettings,
  ...storeSettings,
  ...credentialsSettings,
  ...apiSettings,
  ...requestsSettings,
  ...consoleSettings,
  ...signUpSettings,
  ...numbersSettings,
  ...callsSettings,
  ...templatesSettings,
  ...messagesSettings,
  ...mediaSettings,
  ...webhooksSettings,
} satisfies Partial<{ [K in keyof Config]: Setting<Config[K]> }>

/** The setting of one rate class. */
export function rateSettingName(rateClass: AnyRateClassName): string {
  return `RATE_LIMIT_${rateClass.toUpperCase()}`
}
