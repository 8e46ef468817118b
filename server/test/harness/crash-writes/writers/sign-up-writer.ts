import { randomBytes } from 'node:crypto'
import { tokens } from '../../world.ts'
import { type ChapterWriter, pass, type WriterDeps } from '../chapter-writer.ts'
import type { Write } from '../doors.ts'
import { eventKeys } from '../expected-events.ts'
import { type Change, Contradiction, Shelf } from '../shelf.ts'
import type { StoreView } from '../store-view.ts'
import { connector } from '../world.ts'

/** A dialog that is under way, as its browser has it. */
interface Dialog {
  readonly trace: string
  readonly cookie: string
  readonly ticket: string
  /** The step that comes next. */
  readonly step: string
  /** Of a number that it added or chose. */
  readonly digits?: string
  readonly hasNewCode?: boolean
}

/** What a dialog has chosen so far, as it stands in its ticket. */
interface Chosen {
  readonly person: { readonly name: string; readonly email: string } | null
  readonly user_id: string | null
  readonly business_id: string | null
  readonly account_id: string | null
  readonly phone_number_id: string | null
}

interface Business {
  readonly id: string
  readonly name: string
  readonly user_id: string
}

interface Account {
  readonly id: string
  readonly name: string
  readonly business: string
  /** Of its numbers, by their digits. */
  readonly numbers: Map<string, string>
}

interface Connection {
  readonly state: 'live' | 'ended'
  /** How many of its tokens work. */
  readonly tokens: number
}

/** So that what is never deleted does not become too much to read after every round. */
const maxBusinessesPerLife = 2
const maxAccountsPerLife = 5
const prefix = 'Signed up'

/**
 * Businesses that connect themselves to an app: one dialog after the other, step by step, then the exchanges of its code, and its end by
 * an operator. Every account is connected once. A dialog in which the server died is left.
 */
export class SignUpWriter implements ChapterWriter {
  readonly name = 'sign-up'
  readonly #parts: WriterDeps
  readonly #shelf: Shelf<object>
  #isBegun = false
  #dialog: Dialog | undefined
  /** What was acknowledged, and of which the ids are known therefore. */
  readonly #businesses: Business[] = []
  readonly #accounts: Account[] = []
  /** By account. */
  readonly #codes = new Map<string, string>()
  readonly #tokens = new Map<string, string>()
  /** By person. */
  readonly #links = new Map<string, string>()
  #businessesMade = 0
  #accountsMade = 0
  #numbersWithCode = 0
  #count = 0

  constructor(parts: WriterDeps) {
    this.#parts = parts
    this.#shelf = new Shelf('sign-up', parts.doors)
  }

  async act(): Promise<void> {
    const dialog = this.#dialog
    if (dialog) {
      // Left unless the step is answered: the server may die.
      this.#dialog = undefined
      this.#dialog = await this.#takeStep(dialog)
      return
    }
    const [account, code] = [...this.#codes].at(-1) ?? []
    if (account !== undefined && code !== undefined) return this.#exchangeCode(account, code)
    const { chance } = this.#parts
    const roll = chance.next()
    if (roll < 0.15) return this.#updateApp()
    if (roll < 0.35) return this.#makeLink()
    if (roll < 0.5) return this.#endConnection()
    if (roll < 0.6) return this.#exchangeToken()
    this.#dialog = await this.#open()
  }

  async #open(): Promise<Dialog | undefined> {
    const { doors } = this.#parts
    const trace = randomBytes(16).toString('hex')
    const query = {
      client_id: connector.id,
      redirect_uri: connector.redirect_uri,
      state: trace,
      response_type: 'code',
    }
    const { html, cookie } = await doors.openPage(`/v23.0/dialog/oauth?${new URLSearchParams(query)}`, trace)
    const [, ticket] = /name="ticket" value="([^"]+)"/.exec(html) ?? []
    if (ticket === undefined) throw new Contradiction('sign-up: the first page has no ticket')
    return { trace, cookie, ticket, step: 'person' }
  }

  #takeStep(dialog: Dialog): Promise<Dialog | undefined> {
    switch (dialog.step) {
      case 'person':
        return this.#sayWho(dialog)
      case 'business':
        return this.#takeBusiness(dialog)
      case 'account':
        return this.#takeAccount(dialog)
      case 'number':
        return this.#takeNumber(dialog)
      case 'code':
        return this.#takeCode(dialog)
      case 'consent':
        return this.#end(dialog)
      default:
        throw new Contradiction(`sign-up: there is no step ${dialog.step}`)
    }
  }

  async #sayWho(dialog: Dialog): Promise<Dialog | undefined> {
    const { chance } = this.#parts
    const known = this.#businesses
    if (known.length === 0 || (this.#businessesMade < maxBusinessesPerLife && chance.happens(0.3))) {
      const number = this.#count++
      const fields = { name: `Person ${number}`, email: `person.${number}@signed.example` }
      return this.#submit(dialog, 'introduce_person', 'new-person', fields)
    }
    const [user_id, code] = [...this.#links].at(-1) ?? []
    if (user_id !== undefined && code !== undefined && chance.happens(0.6)) {
      this.#links.delete(user_id)
      return this.#submit(
        dialog,
        'sign_in',
        'sign-in',
        { code },
        { key: 'links', value: { count: this.#countLinks() - 1 } },
      )
    }
    return this.#submit(dialog, 'choose_person', 'person', { user_id: chance.pick(known).user_id })
  }

  async #takeBusiness(dialog: Dialog): Promise<Dialog | undefined> {
    const { email = '' } = readChosen(dialog).person ?? {}
    const known = this.#businesses.find(
      ({ name }) => (this.#shelf.get(`business ${name}`) as { email: string }).email === email,
    )
    if (known) return this.#submit(dialog, 'choose_business', 'business', { business_id: known.id })
    this.#businessesMade++
    const name = `${prefix} ${this.#count++}`
    const next = await this.#submit(
      dialog,
      'add_business',
      'new-business',
      { name },
      { key: `business ${name}`, value: { email } },
    )
    const { business_id, user_id } = readChosen(next)
    if (business_id !== null && user_id !== null) this.#businesses.push({ id: business_id, name, user_id })
    return next
  }

  async #takeAccount(dialog: Dialog): Promise<Dialog | undefined> {
    const { doors, chance } = this.#parts
    const business = this.#businesses.find(({ id }) => id === readChosen(dialog).business_id)
    if (!business) throw new Contradiction('sign-up: the dialog has chosen another business')
    const free = this.#accounts.filter(
      ({ name, business: of }) => of === business.name && !this.#shelf.known.has(`connection ${name}`),
    )
    if (free.length > 0 && chance.happens(0.6)) {
      return this.#submit(dialog, 'choose_account', 'account', { account_id: chance.pick(free).id })
    }
    if (this.#accountsMade++ >= maxAccountsPerLife) {
      await pass(doors)
      return undefined
    }
    const name = `${prefix} account ${this.#count++}`
    const change = { key: `account ${name}`, value: { business: business.name } }
    const next = await this.#submit(dialog, 'add_account', 'new-account', { name }, change)
    const { account_id } = readChosen(next)
    if (account_id !== null) this.#accounts.push({ id: account_id, name, business: business.name, numbers: new Map() })
    return next
  }

  async #takeNumber(dialog: Dialog): Promise<Dialog | undefined> {
    const { chance } = this.#parts
    const { name, numbers } = this.#accountOf(dialog)
    const [digits, id] = [...numbers][0] ?? []
    if (digits !== undefined && id !== undefined) {
      return this.#submit({ ...dialog, digits }, 'choose_number', 'number', { phone_number_id: id })
    }
    if (chance.happens(0.3)) return this.#submit(dialog, 'choose_number', 'number', { none: '1' })
    const added = `1631556${1000 + this.#count++}`
    const fields = { phone_number: `+${added}`, verified_name: name }
    const change = { key: `number ${added}`, value: { account: name, code: 'UNVERIFIED' } }
    const next = await this.#submit({ ...dialog, digits: added }, 'add_number', 'new-number', fields, change)
    const { phone_number_id } = readChosen(next)
    if (phone_number_id !== null) numbers.set(added, phone_number_id)
    return next
  }

  async #takeCode(dialog: Dialog): Promise<Dialog | undefined> {
    const { doors } = this.#parts
    const { digits = '', hasNewCode } = dialog
    // Every other number is verified with a second code.
    if (!hasNewCode && this.#numbersWithCode++ % 2 === 0) {
      return this.#submit({ ...dialog, hasNewCode: true }, 'send_code', 'send-code', { code_method: 'SMS' })
    }
    const outbox = await doors.read({ path: '/gateway/outbox', token: tokens.gateway, query: { to: digits } })
    const code = outbox.data[0]?.code
    if (code === undefined) throw new Contradiction(`sign-up: no code was sent to ${digits}`)
    const number = this.#shelf.get(`number ${digits}`)
    const change = { key: `number ${digits}`, value: { ...number, code: 'VERIFIED' } }
    return this.#submit(dialog, 'verify_number', 'code', { code }, change)
  }

  async #end(dialog: Dialog): Promise<undefined> {
    const { id, name } = this.#accountOf(dialog)
    if (this.#parts.chance.happens(0.25)) {
      await this.#send(dialog, 'decline', 'decline', {})
      return
    }
    const value: Connection = { state: 'live', tokens: 0 }
    const raises = [eventKeys.connection(id, 'PARTNER_ADDED')]
    const change = { key: `connection ${name}`, value, raises }
    const location = await this.#send(dialog, 'agree', 'consent', {}, change)
    const code = location.searchParams.get('code')
    if (code === null || location.searchParams.get('state') !== dialog.trace) {
      throw new Contradiction(`sign-up: the browser was sent to ${location} with a consent`)
    }
    this.#codes.set(name, code)
  }

  /** A form that leads to the next step. */
  async #submit(
    dialog: Dialog,
    name: string,
    path: string,
    fields: Readonly<Record<string, string>>,
    change?: Change<object>,
  ): Promise<Dialog> {
    const location = await this.#send(dialog, name, path, fields, change)
    const ticket = location.searchParams.get('ticket')
    if (ticket === null) throw new Contradiction(`sign-up: ${name} led to ${location}`)
    return { ...dialog, ticket, step: location.pathname.split('/').at(-1) ?? '' }
  }

  async #send(
    { trace, cookie, ticket }: Dialog,
    name: string,
    path: string,
    fields: Readonly<Record<string, string>>,
    change?: Change<object>,
  ): Promise<URL> {
    const write: Write = {
      operation: `sign_up.${name}`,
      method: 'POST',
      path: `/dialog/${path}`,
      fields: { ticket, ...fields },
      headers: { cookie },
      // Nothing is stored of somebody new before there is a business.
      recorded: name === 'introduce_person' ? null : { trace },
    }
    const { location } = change ? await this.#shelf.change(change, write) : await this.#parts.doors.write(write)
    if (!location) throw new Contradiction(`sign-up: ${name} led nowhere`)
    return location
  }

  async #exchangeCode(account: string, code: string): Promise<void> {
    this.#codes.delete(account)
    await this.#exchange(account, { code, redirect_uri: connector.redirect_uri })
  }

  /** One more token with the same grant. */
  async #exchangeToken(): Promise<void> {
    const { doors, chance } = this.#parts
    const known = [...this.#tokens]
    if (known.length === 0) return pass(doors)
    const [account, token] = chance.pick(known)
    await this.#exchange(account, { grant_type: 'fb_exchange_token', fb_exchange_token: token })
  }

  async #exchange(account: string, given: Readonly<Record<string, string>>): Promise<void> {
    const { chance } = this.#parts
    const key = `connection ${account}`
    const connection = this.#shelf.get(key) as Connection
    const asked = { client_id: connector.id, client_secret: connector.secret, ...given }
    const path = '/v23.0/oauth/access_token'
    const write: Write = chance.happens(0.5)
      ? { operation: 'sign_up.exchange', method: 'POST', path, json: asked }
      : {
          operation: 'sign_up.exchange_by_query',
          method: 'GET',
          path,
          query: asked,
          recorded: { operation: 'sign_up.exchange' },
        }
    const value = { ...connection, tokens: connection.tokens + 1 }
    const { body } = await this.#shelf.change({ key, value }, write)
    if (given['code'] !== undefined) this.#tokens.set(account, body.access_token)
  }

  async #endConnection(): Promise<void> {
    const { doors, chance } = this.#parts
    const live = this.#accounts.filter(
      ({ name }) => (this.#shelf.known.get(`connection ${name}`) as Connection | undefined)?.state === 'live',
    )
    // Some always last, so that there is something to lose.
    if (live.length < 2) return pass(doors)
    const { id, name } = chance.pick(live)
    const token = tokens.operator
    const path = '/operator/connections'
    const { data } = await doors.read({ path, token, query: { account_id: id } })
    this.#tokens.delete(name)
    this.#codes.delete(name)
    const value: Connection = { state: 'ended', tokens: 0 }
    const raises = [eventKeys.connection(id, 'PARTNER_REMOVED')]
    const write = {
      operation: 'operator.end_connection',
      method: 'DELETE',
      path: `${path}/${data[0]?.id}`,
      token,
    } as const
    await this.#shelf.change({ key: `connection ${name}`, value, raises }, write)
  }

  async #updateApp(): Promise<void> {
    const json = {
      redirect_uris: [connector.redirect_uri, `https://connector.example/${this.#count++}`],
      require_appsecret_proof: this.#parts.chance.happens(0.5),
    }
    const path = `/operator/apps/${connector.id}`
    const write = { operation: 'operator.update_app', method: 'POST', path, json, token: tokens.operator } as const
    await this.#shelf.change({ key: 'app', value: json }, write)
  }

  async #makeLink(): Promise<void> {
    const { doors, chance } = this.#parts
    const free = this.#businesses.filter(({ user_id }) => !this.#links.has(user_id))
    if (free.length === 0) return pass(doors)
    const { id, user_id } = chance.pick(free)
    const path = `/operator/businesses/${id}/users/${user_id}/link`
    const write = {
      operation: 'operator.create_user_link',
      method: 'POST',
      path,
      json: {},
      token: tokens.operator,
    } as const
    const value = { count: this.#countLinks() + 1 }
    const { body } = await this.#shelf.change({ key: 'links', value }, write)
    this.#links.set(user_id, body.code)
  }

  #countLinks(): number {
    return (this.#shelf.get('links') as { count: number }).count
  }

  #accountOf(dialog: Dialog): Account {
    const { account_id } = readChosen(dialog)
    const account = this.#accounts.find(({ id }) => id === account_id)
    if (!account) throw new Contradiction('sign-up: the dialog has chosen another account')
    return account
  }

  async check(store: StoreView): Promise<void> {
    this.#dialog = undefined
    this.#businessesMade = 0
    this.#accountsMade = 0
    const seen = look(store)
    if (this.#isBegun) this.#shelf.check(seen)
    else this.#shelf.begin(seen)
    this.#isBegun = true
  }
}

function look(store: StoreView): Map<string, object> {
  const [app] = store.rows<{ redirect_uris: string; require_appsecret_proof: number | null }>(
    'SELECT redirect_uris, require_appsecret_proof FROM apps WHERE id = ?',
    connector.id,
  )
  const [links] = store.rows<{ count: number }>('SELECT count(*) AS count FROM business_user_links')
  const seen = new Map<string, object>([
    [
      'app',
      {
        redirect_uris: JSON.parse(app?.redirect_uris ?? 'null'),
        require_appsecret_proof: app?.require_appsecret_proof === 1,
      },
    ],
    ['links', { count: links?.count }],
  ])
  const rows = store.rows<{ key: string; value: string }>(`
    SELECT 'business ' || b.name AS key, json_object('email', u.email) AS value
    FROM businesses AS b JOIN business_users AS u ON u.business_id = b.id WHERE b.name LIKE '${prefix} %'
    UNION ALL SELECT 'account ' || a.name, json_object('business', b.name)
    FROM accounts AS a JOIN businesses AS b ON b.id = a.business_id WHERE b.name LIKE '${prefix} %'
    UNION ALL SELECT 'number ' || n.phone_number, json_object('account', a.name, 'code', n.code_verification_status)
    FROM phone_numbers AS n JOIN accounts AS a ON a.id = n.account_id WHERE a.name LIKE '${prefix} account %'
    UNION ALL SELECT 'connection ' || a.name, json_object('state', iif(c.ended_time IS NULL, 'live', 'ended'), 'tokens', (
      SELECT count(*) FROM tokens WHERE connection_id = c.id AND revoked_time IS NULL))
    FROM connections AS c JOIN accounts AS a ON a.id = c.account_id WHERE c.app_id = '${connector.id}'`)
  for (const { key, value } of rows) {
    if (seen.has(key)) throw new Contradiction(`sign-up: ${key} is there twice`)
    seen.set(key, JSON.parse(value))
  }
  return seen
}

/** What is signed stands before what it is signed with. */
function readChosen({ ticket }: Dialog): Chosen {
  return JSON.parse(Buffer.from(ticket.split('.')[0] ?? '', 'base64url').toString())
}
