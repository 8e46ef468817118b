import { accounts, ids, numbers, partnerIds, tokens } from '../../world.ts'
import { type ChapterWriter, pass, type WriterDeps } from '../chapter-writer.ts'
import { Contradiction, Shelf } from '../shelf.ts'

const maxQrCodes = 12

/** Message QR codes: made, changed and deleted. */
export function qrCodesWriter({ doors, chance }: WriterDeps): ChapterWriter {
  const path = `/v23.0/${numbers.main}/message_qrdls`
  const shelf = new Shelf<string>('QR codes', doors)
  let count = 0
  return {
    name: 'QR codes',
    async act() {
      const prefilled_message = `Hello ${count++}`
      const codes = [...shelf.known.keys()]
      const roll = chance.next()
      if (codes.length > maxQrCodes || (codes.length > 2 && roll < 0.25)) {
        const key = chance.pick(codes)
        const write = { operation: 'qr_codes.delete', method: 'DELETE', path: `${path}/${key}` } as const
        await shelf.change({ key, value: undefined }, write)
        return
      }
      const save = { operation: 'qr_codes.save', method: 'POST', path } as const
      if (roll < 0.5 && codes.length > 0) {
        const code = chance.pick(codes)
        await shelf.change({ key: code, value: prefilled_message }, { ...save, json: { code, prefilled_message } })
        return
      }
      await shelf.change({ value: prefilled_message }, { ...save, json: { prefilled_message } }, ({ body }) => ({
        key: body.code,
      }))
    },
    async check() {
      const items = await doors.list({ path }, 25)
      const seen = new Map(items.map(({ code, prefilled_message }) => [code, prefilled_message]))
      if (count === 0) shelf.begin(seen)
      else shelf.check(seen)
    },
  }
}

/** So that what is never deleted does not become too much to read after every round. */
const maxMadePerLife = 2

export function schedulesWriter({ doors, chance }: WriterDeps): ChapterWriter {
  const path = `/v23.0/${accounts.private}/schedules`
  const shelf = new Shelf<object>('schedules', doors)
  let count = 0
  let made = 0
  return {
    name: 'schedules',
    async act() {
      if (made++ >= maxMadePerLife) return pass(doors)
      const value = {
        name: `Schedule ${count++}`,
        schedule_type: 'CUSTOM',
        description: `Number ${count}`,
        start_time: '08:00',
        end_time: '20:00',
        timezone: 'America/New_York',
        days_of_week: [chance.pick(['MONDAY', 'TUESDAY', 'SUNDAY'])],
        recurrence_pattern: { frequency: 'WEEKLY', interval: 1 + chance.below(4) },
      }
      const write = { operation: 'schedules.create', method: 'POST', path, json: value } as const
      await shelf.change({ value }, write, ({ body }) => ({ key: body.id }))
    },
    async check() {
      const items = await doors.list({ path }, 100)
      const seen = new Map(
        items.map(({ id, status, created_time, updated_time, is_active, ...value }) => [id as string, value]),
      )
      if (count === 0) shelf.begin(seen)
      else shelf.check(seen)
      made = 0
    },
  }
}

/** Solutions of the owner's app that the partner accepts or rejects, and the partner's request to onboard the owner. */
export function solutionsWriter({ doors, chance }: WriterDeps): ChapterWriter {
  const application = `/v23.0/${ids.application}`
  const shelf = new Shelf<{ name: string; status: string; ownerSends: boolean }>('solutions', doors)
  const onboarding = new Shelf<boolean>('onboarding requests', doors)
  let count = 0
  let made = 0
  let answers = 0

  async function answer(): Promise<void> {
    const waiting = [...shelf.known].filter(([, { status }]) => status === 'INITIATED')
    if (waiting.length === 0) return pass(doors)
    const [key, solution] = chance.pick(waiting)
    // By turns, because so few are made.
    const [verb, status] = answers++ % 2 === 0 ? ['accept', 'ACTIVE'] : ['reject', 'REJECTED']
    const write = { operation: `solutions.${verb}`, method: 'POST', path: `/v23.0/${key}/${verb}` } as const
    await shelf.change({ key, value: { ...solution, status } }, { ...write, token: tokens.partner })
  }

  return {
    name: 'solutions',
    async act() {
      const roll = chance.next()
      if (roll < 0.2) {
        const path = `/v23.0/${ids.business}/onboard_partners_to_mm_lite`
        const write = { operation: 'onboarding.request', method: 'POST', path, token: tokens.partner } as const
        // Asked again while it is pending, it is the same request.
        const [key] = onboarding.known.keys()
        await onboarding.change({ key, value: true }, write, ({ body }) => ({ key: body.request_id }))
        return
      }
      if (roll < 0.6 || made++ >= maxMadePerLife) return answer()
      const ownerSends = chance.happens(0.5)
      const value = { name: `Solution ${count++}`, status: 'INITIATED', ownerSends }
      const json = {
        solution_name: value.name,
        partner_app_id: partnerIds.application,
        owner_permissions: ownerSends ? ['MESSAGING'] : [],
        partner_permissions: ownerSends ? [] : ['MESSAGING'],
      }
      const path = `${application}/msgapp_business_solution`
      await shelf.change({ value }, { operation: 'solutions.create', method: 'POST', path, json }, ({ body }) => ({
        key: body.solution_id,
      }))
    },
    async check(store) {
      const items = await doors.list({ path: `${application}/msgapp_business_solutions` }, 100)
      const seen = new Map(
        items.map(({ id, name, status, owner_permissions }) => [
          id as string,
          { name, status, ownerSends: owner_permissions.includes('MESSAGING') },
        ]),
      )
      if (count === 0) shelf.begin(seen)
      else shelf.check(seen)
      // No door shows these.
      const requests = store.rows<{ id: string; status: string }>('SELECT id, status FROM agreement_requests')
      if (requests.some(({ status }) => status !== 'PENDING')) throw new Contradiction('an onboarding was answered')
      onboarding.check(new Map(requests.map(({ id }) => [id, true])))
      made = 0
    },
  }
}
