import type { PhoneNumberCallbacksTable, PhoneNumbersTable } from '../../db/tables.ts'
import {
  appNotLinked,
  appNotSubscribed,
  connectionStatusNotSettable,
  onlyIfWithoutRemoval,
  overrideNotAUrl,
  pinsDiffer,
} from './errors.ts'
import { readName } from './rules.ts'
import { type NumberSettings, settableConnectionStatuses } from './schemas.ts'
import type { NumberEvent } from './states.ts'

/** A callback that must be verified by a handshake before it is set. */
interface NewCallback {
  /** The argument it came from, for messages. */
  readonly member: 'webhook_url' | 'webhook_configuration.override_callback_uri'
  readonly url: string
  /** Undefined: the verify token of the app's subscription. */
  readonly verify_token: string | undefined
}

/** A parsed settings request. */
export interface SettingsChange {
  readonly connection_status: NumberSettings['connection_status']
  readonly columns: Partial<PhoneNumbersTable>
  readonly username: string | undefined
  /** Empty removes it. */
  readonly pin: string | undefined
  readonly newCallbacks: readonly NewCallback[]
  readonly callbackColumns: Partial<Omit<PhoneNumberCallbacksTable, 'phone_number_id' | 'app_id'>>
  /** The callback for a while that is removed; undefined: whichever there is. */
  readonly removedTemporary: string | undefined
}

/** Parses a settings request; throws the 400 when its members do not fit together. */
export function readSettings(input: NumberSettings): SettingsChange {
  const { webhook_url, webhook_configuration: configuration, search_visibility, username } = input
  const { show_security_notifications, notify_user_change_number } = input.whatsapp_business_api_data ?? {}
  const pin = agreeOnPin(input.pin, input.whatsapp_business_api_data?.pin)
  const new_display_name =
    input.new_display_name === undefined ? undefined : readName('new_display_name', input.new_display_name)
  const override = configuration?.override_callback_uri
  if (override && !URL.canParse(override)) throw overrideNotAUrl()
  const removesTemporary = configuration?.temporary === true && override === ''
  if (configuration?.only_if !== undefined && !removesTemporary) throw onlyIfWithoutRemoval()
  return {
    connection_status: input.connection_status,
    columns: {
      ...(new_display_name !== undefined && { new_display_name }),
      ...(search_visibility !== undefined && { search_visibility }),
      ...(show_security_notifications !== undefined && { show_security_notifications }),
      ...(notify_user_change_number !== undefined && { notify_user_change_number }),
    },
    username,
    pin,
    newCallbacks: [
      ...(webhook_url === undefined
        ? []
        : [{ member: 'webhook_url' as const, url: webhook_url, verify_token: undefined }]),
      ...(override
        ? [
            {
              member: 'webhook_configuration.override_callback_uri' as const,
              url: override,
              verify_token: configuration?.verify_token,
            },
          ]
        : []),
    ],
    callbackColumns: {
      ...(override !== undefined && {
        [configuration?.temporary ? 'temporary_callback_uri' : 'override_callback_uri']: override || null,
      }),
      ...(webhook_url !== undefined && { webhook_url }),
    },
    removedTemporary: configuration?.only_if,
  }
}

function agreeOnPin(pin: string | undefined, nested: string | undefined): string | undefined {
  if (pin !== undefined && nested !== undefined && pin !== nested) throw pinsDiffer()
  return pin ?? nested
}

/** The steps of a change, in order. */
export function listEvents({
  connection_status,
  columns,
}: Pick<SettingsChange, 'connection_status' | 'columns'>): NumberEvent[] {
  const events: NumberEvent[] = columns.new_display_name === undefined ? [] : ['renamed']
  switch (connection_status) {
    case undefined:
      return events
    case 'CONNECTED':
      return ['connected', ...events]
    case 'DISCONNECTED':
      return ['disconnected', ...events]
    default:
      throw connectionStatusNotSettable({
        status: connection_status,
        settable: settableConnectionStatuses.join(' or '),
      })
  }
}

/** Only an app that is linked to the account and has a subscription to override may set a number's callback. */
export function checkCallbackRights(
  { callbackColumns, newCallbacks }: Pick<SettingsChange, 'callbackColumns' | 'newCallbacks'>,
  { isLinked, isSubscribed }: { isLinked: boolean; isSubscribed: boolean },
): void {
  if (Object.keys(callbackColumns).length === 0) return
  if (!isLinked) throw appNotLinked()
  if (newCallbacks.length > 0 && !isSubscribed) throw appNotSubscribed()
}
