import { craftRsaKey, toSpki, writePem } from '../../rsa-keys.ts'
import type { Chance } from '../../seeded-random.ts'
import { accounts, numbers } from '../../world.ts'
import type { ChapterWriter, WriterDeps } from '../chapter-writer.ts'
import type { Doors } from '../doors.ts'
import { Shelf } from '../shelf.ts'

interface ValueWriter {
  readonly name: string
  readonly operation: string
  readonly path: string
  /** Another value each time. `count` never repeats. */
  readonly draw: (chance: Chance, count: number) => object
  /** What is there; undefined when nothing is. */
  readonly read: (doors: Doors) => Promise<object | undefined>
}

/** A writer that puts one value in the place of another. */
function makeValueWriter(
  { doors, chance }: WriterDeps,
  { name, operation, path, draw, read }: ValueWriter,
): ChapterWriter {
  const shelf = new Shelf<object>(name, doors)
  let count = 0
  return {
    name,
    async act() {
      const value = draw(chance, count++)
      const json = { messaging_product: 'msgapp', ...value }
      await shelf.change({ key: 'it', value }, { operation, method: 'POST', path, json })
    },
    async check() {
      const value = await read(doors)
      const seen = new Map(value === undefined ? [] : [['it', value]])
      if (count === 0) shelf.begin(seen)
      else shelf.check(seen)
    },
  }
}

export function accountWriter(parts: WriterDeps): ChapterWriter {
  const path = `/v23.0/${accounts.private}`
  return makeValueWriter(parts, {
    name: 'account',
    operation: 'account.update',
    path,
    draw: (chance, count) => ({ name: `Lucky Shrub ${count}`, timezone_id: String(1 + chance.below(90)) }),
    async read(doors) {
      const { name, timezone_id } = await doors.read({ path, query: { fields: 'name,timezone_id' } })
      return { name, timezone_id }
    },
  })
}

export function complianceWriter(parts: WriterDeps): ChapterWriter {
  const path = `/v23.0/${numbers.main}/business_compliance_info`
  return makeValueWriter(parts, {
    name: 'compliance',
    operation: 'compliance.set',
    path,
    draw: (chance, count) => ({
      entity_name: `Shrub ${count}`,
      entity_type: 'PARTNERSHIP',
      is_registered: chance.happens(0.5),
      grievance_officer_details: { name: `Officer ${count}`, email: `officer.${count}@shrub.example` },
      customer_care_details: { email: `care.${count}@shrub.example` },
    }),
    async read(doors) {
      const { messaging_product, whatsapp_business_account_id, ...info } = (await doors.read({ path })).data[0]
      return info.entity_name === undefined ? undefined : info
    },
  })
}

export function encryptionWriter(parts: WriterDeps): ChapterWriter {
  const path = `/v23.0/${numbers.main}/msgapp_business_encryption`
  return makeValueWriter(parts, {
    name: 'encryption key',
    operation: 'encryption.upload',
    path,
    draw: (_chance, count) => ({
      business_public_key: writePem('PUBLIC KEY', toSpki(craftRsaKey({ exponent: 65537n + 2n * BigInt(count) }))),
    }),
    async read(doors) {
      const [found] = (await doors.read({ path })).data
      if (found === undefined) return undefined
      const { business_public_key, business_public_key_signature_status: status } = found
      // The key and its signature are one write.
      return status === 'VALID' ? { business_public_key } : { business_public_key, status }
    },
  })
}

export function botWriter(parts: WriterDeps): ChapterWriter {
  const path = `/v23.0/${numbers.main}/conversational_automation`
  return makeValueWriter(parts, {
    name: 'bot',
    operation: 'bot.set_automation',
    path,
    draw: (chance, count) => ({
      prompts: [`Prompt ${count}`],
      commands: [{ command_name: `c${count}`, command_description: `Does ${count}` }],
      enable_welcome_message: chance.happens(0.5),
    }),
    async read(doors) {
      const { id, ...offer } = await doors.read({ path })
      return id === undefined ? undefined : offer
    },
  })
}
