import { type InternationalNumber, readInternationalNumber } from '../base/international-number.ts'
import { type AnyNodeKind, isNodeId } from '../graph/nodes.ts'
import { letOthersRun } from './batches.ts'
import type { Problems } from './refused.ts'
import {
  idExpectation,
  type WorldAccount,
  type WorldApp,
  type WorldBot,
  type WorldBusiness,
  type WorldCallPermission,
  type WorldContent,
  type WorldCredit,
  type WorldGroup,
  type WorldIntent,
  type WorldNumber,
  type WorldQrCode,
  type WorldSchedule,
  type WorldToken,
} from './schema.ts'

/** Something that the file describes, and where it does. */
export interface Thing<Given> {
  readonly place: string
  readonly given: Given
}

export interface CreditThing extends Thing<WorldCredit> {
  readonly business: WorldBusiness
}

/** What belongs to an account. */
export interface AccountThing<Given> extends Thing<Given> {
  readonly account: WorldAccount
}

export interface NumberThing extends AccountThing<WorldNumber> {
  readonly parsed: InternationalNumber
}

/** What belongs to a phone number. */
export interface NumberPartThing<Given> extends AccountThing<Given> {
  readonly number: WorldNumber
}

/** An id that the file gives to something. */
export interface FileNode {
  readonly id: string
  readonly kind: AnyNodeKind
  readonly business_id: string
  readonly account_id: string | null
  readonly place: string
}

/** Everything of a file in flat lists, so that it can be checked and written in batches however it is nested. */
export interface Things {
  readonly businesses: Thing<WorldBusiness>[]
  readonly credits: CreditThing[]
  readonly apps: Thing<WorldApp>[]
  readonly tokens: Thing<WorldToken>[]
  readonly accounts: Thing<WorldAccount>[]
  readonly numbers: NumberThing[]
  readonly qrCodes: NumberPartThing<WorldQrCode>[]
  readonly groups: NumberPartThing<WorldGroup>[]
  readonly bots: AccountThing<WorldBot>[]
  readonly schedules: AccountThing<WorldSchedule>[]
  readonly intents: AccountThing<WorldIntent>[]
  readonly permissions: Thing<WorldCallPermission>[]
  readonly nodes: Map<string, FileNode>
}

/** Lists what the file describes; complains of ids that are no ids or were given twice, and of numbers that are none. */
export async function listThings(content: WorldContent, problems: Problems): Promise<Things> {
  const nodes = new Map<string, FileNode>()
  const things: Things = {
    businesses: listPlaces(content.businesses, 'businesses'),
    credits: [],
    apps: listPlaces(content.apps, 'apps'),
    tokens: listPlaces(content.tokens, 'tokens'),
    accounts: listPlaces(content.accounts, 'accounts'),
    numbers: [],
    qrCodes: [],
    groups: [],
    bots: [],
    schedules: [],
    intents: [],
    permissions: listPlaces(content.call_permissions, 'call_permissions'),
    nodes,
  }

  function register(node: FileNode): void {
    const known = nodes.get(node.id)
    if (!isNodeId(node.id)) problems.add(node.place, `it must be ${idExpectation}.`)
    else if (known)
      problems.add(
        node.place,
        `${known.place} has that id already; choose another, because ids are unique over everything.`,
      )
    else nodes.set(node.id, node)
  }

  for (const { given, place } of things.businesses) {
    register({ id: given.id, kind: 'business', business_id: given.id, account_id: null, place: `${place}.id` })
    for (const credit of listPlaces(given.extended_credits, `${place}.extended_credits`)) {
      const { id } = credit.given
      register({ id, kind: 'extended_credit', business_id: given.id, account_id: null, place: `${credit.place}.id` })
      things.credits.push({ ...credit, business: given })
    }
  }
  for (const { given, place } of things.apps) {
    const { id, business_id } = given
    register({ id, kind: 'application', business_id, account_id: null, place: `${place}.id` })
  }
  for (const account of things.accounts) await listAccount(account, things, register, problems)
  return things
}

async function listAccount(
  { given: account, place }: Thing<WorldAccount>,
  things: Things,
  register: (node: FileNode) => void,
  problems: Problems,
): Promise<void> {
  const registerOwn = (kind: AnyNodeKind, id: string, at: string) =>
    register({ id, kind, business_id: account.business_id, account_id: account.id, place: at })

  registerOwn('account', account.id, `${place}.id`)
  for (const [index, number] of (account.phone_numbers ?? []).entries()) {
    if (index % 500 === 499) await letOthersRun()
    const at = `${place}.phone_numbers[${index}]`
    registerOwn('phone_number', number.id, `${at}.id`)
    if (number.account_number_id !== undefined) {
      registerOwn('account_number', number.account_number_id, `${at}.account_number_id`)
    }
    const parsed = readInternationalNumber(number.display_phone_number)
    if (parsed) things.numbers.push({ given: number, place: at, account, parsed })
    else
      problems.add(
        `${at}.display_phone_number`,
        'it must be a possible phone number in international format such as +1 631-555-1001.',
      )
    for (const code of listPlaces(number.qr_codes, `${at}.qr_codes`)) things.qrCodes.push({ ...code, account, number })
    for (const group of listPlaces(number.groups, `${at}.groups`)) {
      registerOwn('group', group.given.id, `${group.place}.id`)
      things.groups.push({ ...group, account, number })
    }
  }
  for (const bot of listPlaces(account.bots, `${place}.bots`)) {
    registerOwn('bot', bot.given.id, `${bot.place}.id`)
    things.bots.push({ ...bot, account })
  }
  for (const schedule of listPlaces(account.schedules, `${place}.schedules`)) {
    registerOwn('schedule', schedule.given.id, `${schedule.place}.id`)
    things.schedules.push({ ...schedule, account })
  }
  for (const intent of listPlaces(account.migration_intents, `${place}.migration_intents`)) {
    registerOwn('migration_intent', intent.given.id, `${intent.place}.id`)
    things.intents.push({ ...intent, account })
  }
}

function listPlaces<Given>(items: readonly Given[] | undefined, place: string): Thing<Given>[] {
  return (items ?? []).map((given, index) => ({ given, place: `${place}[${index}]` }))
}

/** A place where the file names something by its id. */
export interface Reference {
  readonly place: string
  readonly id: string
  readonly kind: AnyNodeKind
}

export function* listReferences(things: Things): Generator<Reference> {
  for (const { given, place } of things.apps) {
    yield { place: `${place}.business_id`, id: given.business_id, kind: 'business' }
  }
  for (const { given, place } of things.tokens) {
    yield { place: `${place}.app_id`, id: given.app_id, kind: 'application' }
    yield* listEach(given.accounts, `${place}.accounts`, 'account')
  }
  for (const { given, place } of things.accounts) {
    yield { place: `${place}.business_id`, id: given.business_id, kind: 'business' }
    yield* listEach(given.shared_with, `${place}.shared_with`, 'business')
    if (typeof given.on_behalf_of === 'string') {
      yield { place: `${place}.on_behalf_of`, id: given.on_behalf_of, kind: 'business' }
    }
    yield* listEach(given.subscribed_apps, `${place}.subscribed_apps`, 'application')
  }
  for (const { given, place } of things.bots) {
    if (given.phone_number_id !== undefined) {
      yield { place: `${place}.phone_number_id`, id: given.phone_number_id, kind: 'phone_number' }
    }
  }
  for (const { given, place } of things.permissions) {
    yield { place: `${place}.phone_number_id`, id: given.phone_number_id, kind: 'phone_number' }
  }
}

function* listEach(ids: readonly string[] | null | undefined, place: string, kind: AnyNodeKind): Generator<Reference> {
  for (const [index, id] of (ids ?? []).entries()) yield { place: `${place}[${index}]`, id, kind }
}
