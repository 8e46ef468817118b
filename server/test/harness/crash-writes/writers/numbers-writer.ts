import { accounts, tokens } from '../../world.ts'
import { type ChapterWriter, pass, type WriterDeps } from '../chapter-writer.ts'
import { Contradiction, Shelf } from '../shelf.ts'
import type { StoreView } from '../store-view.ts'

interface PhoneNumber {
  readonly verified_name: string
  readonly link: string
  readonly connection: string
  readonly code: string
  readonly platform: string
  readonly username: string
  readonly new_display_name: string | null
  readonly search_visibility: string
  /** How often it was registered. */
  readonly epoch: number
}

const maxMadePerLife = 2
const wrongPinCode = 133005

/** The life of phone numbers: created, verified with the code that was sent, registered, set, deregistered. */
export class NumbersWriter implements ChapterWriter {
  readonly name = 'phone numbers'
  readonly #parts: WriterDeps
  readonly #shelf: Shelf<PhoneNumber>
  readonly #ids = new Map<string, string>()
  /** Of each number the PINs that it may have: one, or two while a change of it is uncertain. */
  readonly #pins = new Map<string, string[]>()
  /** Numbers that need a new code: the one that they have may be too old. */
  readonly #stale = new Set<string>()
  #made = 0
  #numbers = 0
  #count = 0

  constructor(parts: WriterDeps) {
    this.#parts = parts
    this.#shelf = new Shelf('phone numbers', parts.doors)
  }

  async act(): Promise<void> {
    const { doors, chance } = this.#parts
    const acting = [...this.#ids.keys()].slice(-6)
    if (acting.length < 3 || (chance.happens(0.15) && this.#made < maxMadePerLife)) return this.#create()
    const digits = chance.pick(acting)
    const number = this.#shelf.get(digits)
    if (number.code === 'NOT_VERIFIED') {
      if (this.#stale.has(digits) || chance.happens(0.2)) return this.#requestCode(digits, number)
      return this.#verify(digits, number)
    }
    if (chance.happens(0.5)) return this.#set(digits, number)
    if (number.platform === 'CLOUD_API') return this.#deregister(digits, number)
    if (number.code === 'VERIFIED') return this.#register(digits, number)
    return pass(doors)
  }

  async #create(): Promise<void> {
    this.#made++
    const isOdd = this.#numbers % 2 === 1
    const digits = digitsOf(this.#numbers++)
    const verified_name = `Shrub ${digits}`
    const value = {
      verified_name,
      link: 'PENDING',
      connection: 'PENDING',
      code: 'NOT_VERIFIED',
      platform: 'NOT_APPLICABLE',
      username: '',
      new_display_name: null,
      search_visibility: 'VISIBLE',
      epoch: 0,
    }
    const { body } = await this.#shelf.change(
      { key: digits, value },
      {
        operation: 'phone_numbers.create',
        method: 'POST',
        path: `/v23.0/${accounts.onBehalf}/phone_numbers`,
        json: { phone_number: digits, verified_name },
      },
    )
    this.#ids.set(digits, body.id)
    // Every other one is verified with a second code.
    if (isOdd) this.#stale.add(digits)
  }

  async #requestCode(digits: string, value: PhoneNumber): Promise<void> {
    const json = { code_method: 'SMS', language: 'en_US' }
    await this.#change(digits, value, 'phone_numbers.request_code', '/request_code', json)
    this.#stale.delete(digits)
  }

  /** The newest code that the carrier was given is the one that counts: the two are one write. */
  async #verify(digits: string, number: PhoneNumber): Promise<void> {
    const outbox = await this.#parts.doors.read({
      path: '/gateway/outbox',
      token: tokens.gateway,
      query: { to: digits },
    })
    const code = outbox.data[0]?.code
    if (code === undefined) throw new Contradiction(`phone numbers: no code was sent to ${digits}`)
    const value = { ...number, code: 'VERIFIED', link: 'LINKED' }
    await this.#change(digits, value, 'phone_numbers.verify_code', '/verify_code', { code })
  }

  async #register(digits: string, number: PhoneNumber): Promise<void> {
    const [pin = '123456', other] = this.#pins.get(digits) ?? []
    const value = { ...number, platform: 'CLOUD_API', connection: 'CONNECTED', epoch: number.epoch + 1 }
    const json = { messaging_product: 'msgapp', pin }
    const write = {
      operation: 'phone_numbers.register',
      method: 'POST',
      path: this.#path(digits, '/register'),
    } as const
    // The first registration sets the PIN; if it is under way when the server dies, both this PIN and none may be there.
    let isRefused = false
    await this.#shelf.change(
      { key: digits, value },
      { ...write, json, mayRefuse: other === undefined ? [] : [422] },
      ({ status, body }) => {
        isRefused = status === 422
        if (isRefused && body.error.code !== wrongPinCode) throw new Contradiction(body.error.message)
        return { value: isRefused ? number : value }
      },
    )
    this.#pins.set(digits, [isRefused ? (other as string) : pin])
  }

  async #deregister(digits: string, number: PhoneNumber): Promise<void> {
    const value = { ...number, platform: 'NOT_APPLICABLE', connection: 'DISCONNECTED' }
    await this.#change(digits, value, 'phone_numbers.deregister', '/deregister', {})
  }

  async #set(digits: string, number: PhoneNumber): Promise<void> {
    const { chance } = this.#parts
    const count = this.#count++
    const known = this.#pins.get(digits)
    if (known?.length === 1 && chance.happens(0.2)) {
      const pin = String(100_000 + chance.below(900_000))
      this.#pins.set(digits, [pin, known[0] as string])
      await this.#change(digits, number, 'phone_numbers.update_settings', '', { pin })
      this.#pins.set(digits, [pin])
      return
    }
    const json = {
      username: `shrub.${count}`,
      new_display_name: `Shrub ${count}`,
      search_visibility: chance.pick(['VISIBLE', 'HIDDEN']),
    }
    await this.#change(digits, { ...number, ...json }, 'phone_numbers.update_settings', '', json)
  }

  async #change(digits: string, value: PhoneNumber, operation: string, edge: string, json: object): Promise<void> {
    const write = { operation, method: 'POST', path: this.#path(digits, edge), json } as const
    await this.#shelf.change({ key: digits, value }, write)
  }

  #path(digits: string, edge: string): string {
    return `/v23.0/${this.#ids.get(digits)}${edge}`
  }

  async check(store: StoreView): Promise<void> {
    const { doors } = this.#parts
    const listed = await doors.list({ path: `/v23.0/${accounts.onBehalf}/phone_numbers` }, 100)
    // What no door shows of a number.
    const rows = new Map(
      store
        .rows<{
          id: string
          connection_status: string
          new_display_name: string
          search_visibility: string
          epoch: number
        }>(
          'SELECT id, connection_status, new_display_name, search_visibility, registration_epoch AS epoch FROM phone_numbers',
        )
        .map((row) => [row.id, row]),
    )
    const seen = new Map<string, PhoneNumber>()
    for (const item of listed) {
      const row = rows.get(item.id)
      const digits = item.display_phone_number.replaceAll(/\D/g, '')
      if (!row) throw new Contradiction(`phone numbers: ${digits} is listed but has no row`)
      this.#ids.set(digits, item.id)
      seen.set(digits, {
        verified_name: item.verified_name,
        link: item.status,
        connection: row.connection_status,
        code: item.code_verification_status,
        platform: item.host_platform,
        username: item.username,
        new_display_name: row.new_display_name,
        search_visibility: row.search_visibility,
        epoch: row.epoch,
      })
    }
    this.#shelf.check(seen)
    this.#made = 0
  }

  passTime(): void {
    for (const digits of this.#ids.keys()) this.#stale.add(digits)
    // One whose creation was under way is not known yet, but its code is as old.
    if (this.#numbers > 0) this.#stale.add(digitsOf(this.#numbers - 1))
  }
}

function digitsOf(index: number): string {
  return `1631555${2000 + index}`
}
