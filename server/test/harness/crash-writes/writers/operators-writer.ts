import { ids, strangerIds, tokens } from '../../world.ts'
import { type ChapterWriter, pass, type WriterDeps } from '../chapter-writer.ts'
import type { Write } from '../doors.ts'
import { Shelf } from '../shelf.ts'

const maxTokens = 12
const scope = 'msgapp_business_messaging'

/** What operators write: tokens of an app that nothing else uses, its secret, and what leaves the rest as it is. */
export function operatorsWriter({ doors, chance }: WriterDeps): ChapterWriter {
  const token = tokens.operator
  const app_id = strangerIds.application
  const shelf = new Shelf<string>('operators', doors)
  /** Of tokens whose creation was acknowledged, by their ids. */
  const secrets = new Map<string, string>()
  let isBegun = false

  async function actOnTokens(): Promise<void> {
    const good = [...shelf.known].filter(([, state]) => state === 'good').map(([id]) => id)
    if (good.length > 1 && (good.length > maxTokens || chance.next() < 0.4)) {
      const key = chance.pick(good)
      await shelf.change({ key, value: 'revoked' }, chooseEnd(key))
      return
    }
    const write = { operation: 'operator.create_token', method: 'POST', path: '/operator/tokens', token } as const
    await shelf.change({ value: 'good' }, { ...write, json: { app_id, scopes: [scope] } }, ({ body }) => {
      secrets.set(body.id, body.token)
      return { key: body.id }
    })
  }

  /** By an operator, or by the token itself: it has one permission to give back. */
  function chooseEnd(id: string): Write {
    const own = secrets.get(id)
    const roll = chance.next()
    const path = '/v23.0/me/permissions'
    if (own === undefined || roll < 0.4) {
      return { operation: 'operator.revoke_token', method: 'DELETE', path: `/operator/tokens/${id}`, token }
    }
    return roll < 0.7
      ? { operation: 'tokens.take_back_all', method: 'DELETE', path, token: own }
      : { operation: 'tokens.take_back', method: 'DELETE', path: `${path}/${scope}`, token: own }
  }

  /** Deliveries and lanes belong to other writers: nothing of them is changed. */
  async function actElsewhere(): Promise<void> {
    const post = { method: 'POST', token } as const
    const roll = chance.next()
    if (roll < 0.1) {
      // Declined at once: whoever has access stays as it is.
      const json = { account_id: strangerIds.account, requesting_business_id: ids.business, status: 'DECLINE' }
      const path = '/operator/onbehalf-requests'
      await doors.write({ operation: 'operator.set_onbehalf_request', method: 'PUT', path, token, json })
    } else if (roll < 0.2) {
      const raw = Buffer.from(JSON.stringify({ businesses: [{ id: strangerIds.business, name: 'Stranger' }] }))
      await doors.write({ ...post, operation: 'operator.apply_world', path: '/operator/world', raw })
    } else if (roll < 0.4) {
      const path = `/operator/apps/${app_id}/secret`
      await doors.write({ ...post, operation: 'operator.rotate_app_secret', path, json: {} })
    } else if (roll < 0.7) {
      const json = { app_id, state: 'failed' }
      await doors.write({ ...post, operation: 'operator.replay_deliveries', path: '/operator/deliveries/replay', json })
    } else if (roll < 0.85) {
      const path = '/operator/deliveries/replay'
      const json = { app_id, state: 'failed', job: true }
      const begun = await doors.write({ ...post, operation: 'operator.replay_deliveries', path, json })
      const id = begun?.body.job?.id
      if (id === undefined) return
      await doors.write({ operation: 'operator.stop_replay', method: 'DELETE', path: `/operator/replays/${id}`, token })
    } else {
      const [lane] = (await doors.read({ path: '/operator/lanes', token })).data
      if (!lane) return pass(doors)
      const path = `/operator/lanes/${lane.id}`
      await doors.write({ ...post, operation: 'operator.act_on_lane', path, json: { action: 'resume' } })
    }
  }

  return {
    name: 'operators',
    act: () => (chance.next() < 0.6 ? actOnTokens() : actElsewhere()),
    async check() {
      const items = await doors.list({ path: '/operator/tokens', token, query: { app_id } }, 100)
      const seen = new Map(items.map(({ id, state }) => [id, state]))
      if (isBegun) shelf.check(seen)
      else shelf.begin(seen)
      isBegun = true
    },
  }
}
