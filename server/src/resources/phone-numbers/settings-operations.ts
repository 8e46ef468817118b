import type { Db, Transaction } from '../../db/database.ts'
import type { Context } from '../../graph/context.ts'
import { defineWrite } from '../../graph/define.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { successSchema } from '../../graph/schemas.ts'
import {
  findSubscription,
  findTemporaryCallback,
  isAppLinked,
  openVerifyToken,
  setNumberCallbacks,
} from '../webhooks/store.ts'
import { putPinHash, removePin } from './code-store.ts'
import { usernameTaken } from './errors.ts'
import { hashPin } from './pin.ts'
import { numberSettingsSchema } from './schemas.ts'
import { checkCallbackRights, listEvents, readSettings, type SettingsChange } from './settings-rules.ts'
import { moveNumber, type NumberStates } from './states.ts'
import { lockPhoneNumber, takeUsername, updatePhoneNumber } from './store.ts'

export function updateSettings(): NewOperation {
  return defineWrite({
    name: 'phone_numbers.update_settings',
    method: 'POST',
    path: '/{Version}/{Phone-Number-ID}',
    sentence: 'Changes the settings of a phone number: all that are sent, or none.',
    permission: 'management',
    input: numberSettingsSchema,
    output: successSchema,
    examples: {
      input: { search_visibility: 'HIDDEN', username: 'lucky.shrub', new_display_name: 'Lucky Shrub Garden' },
      output: { success: true },
    },
    async prepare(context, input) {
      const change = readSettings(input)
      const subscription = await checkCallbacks(context, change)
      const events = listEvents(change)
      for (const { member, url, verify_token } of change.newCallbacks) {
        const token = verify_token ?? (subscription ? openVerifyToken(context.db, subscription) : '')
        await context.ports.verifyCallback(url, token, member)
      }
      return { change, events, pinHash: change.pin ? await hashPin(context.random, change.pin) : undefined }
    },
    async run(context, _input, { change, events, pinHash }) {
      const { db, node, caller, clock } = context
      const number = await lockPhoneNumber(db, node)
      // The handshake takes time, so the permission is checked again.
      await checkCallbacks(context, change)
      const states = events.reduce<NumberStates | undefined>(
        (soFar, event) => moveNumber(soFar ?? number, event, clock.now()),
        undefined,
      )
      await updatePhoneNumber(db, node, { ...change.columns, ...states })
      if (change.username !== undefined && !(await takeUsername(db, node, change.username))) {
        throw usernameTaken({ username: change.username })
      }
      if (pinHash !== undefined) await putPinHash(db, node.id, pinHash)
      else if (change.pin === '') await removePin(db, node.id)
      const place = { phone_number_id: node.id, app_id: caller.app_id }
      await setNumberCallbacks(db, place, await keepSuccessor(db, place, change))
      return { success: true }
    },
  })
}

/** The changes of callbacks without the removal of a callback for a while that has been replaced by another one. */
async function keepSuccessor(
  db: Transaction,
  place: { phone_number_id: string; app_id: string },
  { callbackColumns, removedTemporary }: SettingsChange,
): Promise<SettingsChange['callbackColumns']> {
  if (removedTemporary === undefined || removedTemporary === (await findTemporaryCallback(db, place))) {
    return callbackColumns
  }
  const { temporary_callback_uri: _, ...others } = callbackColumns
  return others
}

/** The subscription of the token's app, if the change needs one; throws when the app may not make the change. */
async function checkCallbacks({ db, node, caller }: Context<Db>, change: SettingsChange) {
  if (Object.keys(change.callbackColumns).length === 0) return undefined
  const subscription = await findSubscription(db, caller.app_id)
  const isLinked = await isAppLinked(db, node.account_id ?? '', caller.app_id)
  checkCallbackRights(change, { isLinked, isSubscribed: subscription !== undefined })
  return subscription
}
