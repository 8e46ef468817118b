import { strangerIds, tokens } from '../../world.ts'
import { type ChapterWriter, pass, type WriterDeps } from '../chapter-writer.ts'
import { Shelf } from '../shelf.ts'

const maxTokens = 12

/** What operators write: tokens of an app that nothing else uses, its secret, and what leaves the rest as it is. */
export function operatorsWriter({ doors, chance }: WriterDeps): ChapterWriter {
  const token = tokens.operator
  const app_id = strangerIds.application
  const shelf = new Shelf<string>('operators', doors)
  let isBegun = false

  async function actOnTokens(): Promise<void> {
    const good = [...shelf.known].filter(([, state]) => state === 'good').map(([id]) => id)
    if (good.length > 1 && (good.length > maxTokens || chance.next() < 0.4)) {
      const key = chance.pick(good)
      const path = `/operator/tokens/${key}`
      await shelf.change(
        { key, value: 'revoked' },
        { operation: 'operator.revoke_token', method: 'DELETE', path, token },
      )
      return
    }
    const write = { operation: 'operator.create_token', method: 'POST', path: '/operator/tokens', token } as const
    await shelf.change({ value: 'good' }, { ...write, json: { app_id, scopes: [] } }, ({ body }) => ({ key: body.id }))
  }

  /** Deliveries and lanes belong to other writers: nothing of them is changed. */
  async function actElsewhere(): Promise<void> {
    const post = { method: 'POST', token } as const
    const roll = chance.next()
    if (roll < 0.2) {
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
