import { numbers, tokens } from '../../world.ts'
import { type ChapterWriter, pass, type WriterDeps } from '../chapter-writer.ts'
import type { Write } from '../doors.ts'
import { eventKeys } from '../expected-events.ts'
import { type Change, Contradiction, Shelf } from '../shelf.ts'

interface Group {
  readonly description: string
  readonly mode: string
  /** The address that users join by; null when there is none. */
  readonly link: string | null
  readonly users: readonly string[]
  readonly asking: readonly string[]
}

const maxGroups = 5
const maxUsers = 5
/** Stands for the link that a group comes into being with, until it is read. */
const firstLink = 'its first link'

/**
 * Groups, known by their subjects because the ids are drawn later, by a timer: made, joined, asked into, left, deleted. Every user
 * does each thing once, so that each event is told from every other.
 */
export class GroupsWriter implements ChapterWriter {
  readonly name = 'groups'
  readonly #parts: WriterDeps
  readonly #shelf: Shelf<Group>
  readonly #ids = new Map<string, string>()
  readonly #path = `/v23.0/${numbers.main}/groups`
  #count = 0
  #isBegun = false

  constructor(parts: WriterDeps) {
    this.#parts = parts
    this.#shelf = new Shelf('groups', parts.doors)
  }

  async act(): Promise<void> {
    const { doors, chance } = this.#parts
    if (this.#shelf.known.size < maxGroups && chance.happens(0.4)) return this.#create()
    await this.#learnIds()
    const there = [...this.#shelf.known.keys()].filter((subject) => this.#ids.has(subject))
    if (there.length === 0) return pass(doors)
    const subject = chance.pick(there)
    const group = this.#shelf.get(subject)
    const roll = chance.next()
    if (roll < 0.1 && there.length > 1) return this.#delete(subject)
    if (group.link === null || roll < 0.2) return this.#createLink(subject, group)
    if (roll < 0.3) return this.#deleteLink(subject, group)
    if (group.asking.length > 0 && roll < 0.6) return this.#answer(subject, group)
    if (group.users.length > 0 && (roll < 0.7 || group.users.length >= maxUsers)) return this.#remove(subject, group)
    if (group.asking.length < maxUsers) return this.#join(subject, group)
    return pass(doors)
  }

  /** Groups created since the last poll. */
  async #learnIds(): Promise<void> {
    for (const { id, subject } of await this.#parts.doors.list({ path: this.#path }, 100)) {
      if (!this.#ids.has(subject)) this.#learn(subject, id, await this.#readLink(id))
    }
  }

  #learn(subject: string, id: string, link: string | null): void {
    this.#ids.set(subject, id)
    const known = this.#shelf.known.get(subject)
    if (known?.link === firstLink && link !== null) this.#shelf.expect(subject, { ...known, link })
  }

  async #readLink(id: string): Promise<string | null> {
    return (await this.#parts.doors.read({ path: `/v23.0/${id}/invite_link` }))?.invite_link ?? null
  }

  async #create(): Promise<void> {
    const { chance } = this.#parts
    const subject = `Group ${this.#count++}`
    const mode = chance.pick(['auto_approve', 'approval_required'])
    const description = `About ${subject}`
    // The server draws the link.
    const make = (link: string) => ({ description, mode, link, users: [], asking: [] })
    const json = { messaging_product: 'msgapp', subject, description, join_approval_mode: mode }
    const write = { operation: 'groups.create', method: 'POST', path: this.#path, json } as const
    const raises = [eventKeys.groupCreated(subject)]
    await this.#shelf.change({ key: subject, value: (seen) => make(seen?.link ?? firstLink), raises }, write, () => ({
      value: make(firstLink),
    }))
  }

  async #delete(subject: string): Promise<void> {
    const raises = [eventKeys.groupDeleted(this.#idOf(subject))]
    await this.#change(subject, { value: undefined, raises }, 'groups.delete', 'DELETE', '', {})
    this.#ids.delete(subject)
  }

  async #createLink(subject: string, group: Group): Promise<void> {
    const write = this.#write('groups.create_invite_link', 'POST', subject, '/invite_link', {})
    await this.#shelf.change(
      { key: subject, value: (seen) => ({ ...group, link: seen?.link ?? 'a new one' }) },
      write,
      ({ body }) => ({ value: { ...group, link: body.invite_link } }),
    )
  }

  async #deleteLink(subject: string, group: Group): Promise<void> {
    const change = { value: { ...group, link: null } }
    await this.#change(subject, change, 'groups.delete_invite_link', 'DELETE', '/invite_link', {})
  }

  async #join(subject: string, group: Group): Promise<void> {
    const user = String(16_505_600_000 + this.#count++)
    const asks = group.mode === 'approval_required'
    const value = asks
      ? { ...group, asking: [...group.asking, user].sort() }
      : { ...group, users: [...group.users, user].sort() }
    const raises = [eventKeys.member(user, asks ? 'group_join_request_created' : 'added')]
    const json = { invite_link: group.link, user_wa_id: user }
    const write = {
      operation: 'gateway.join_group',
      method: 'POST',
      path: '/gateway/groups/join',
      token: tokens.gateway,
      json,
    } as const
    await this.#shelf.change({ key: subject, value, raises }, write)
  }

  async #answer(subject: string, group: Group): Promise<void> {
    const { doors, chance } = this.#parts
    const path = `/v23.0/${this.#idOf(subject)}/join_requests`
    const requests = await doors.list({ path }, 100)
    const { join_request_id, wa_id: user } = chance.pick(requests)
    const json = { join_requests: [join_request_id] }
    const asking = group.asking.filter((other) => other !== user)
    if (chance.happens(0.5)) {
      const value = { ...group, asking, users: [...group.users, user].sort() }
      const change = { value, raises: [eventKeys.member(user, 'added')] }
      await this.#change(subject, change, 'groups.approve_join_requests', 'POST', '/join_requests', json)
    } else {
      const change = { value: { ...group, asking }, raises: [eventKeys.member(user, 'group_join_request_revoked')] }
      await this.#change(subject, change, 'groups.reject_join_requests', 'DELETE', '/join_requests', json)
    }
  }

  async #remove(subject: string, group: Group): Promise<void> {
    const user = this.#parts.chance.pick(group.users)
    const value = { ...group, users: group.users.filter((other) => other !== user) }
    const change = { value, raises: [eventKeys.member(user, 'removed')] }
    const json = { participants: [{ user }] }
    await this.#change(subject, change, 'groups.remove_participants', 'DELETE', '/participants', json)
  }

  #change(
    subject: string,
    change: Change<Group>,
    operation: string,
    method: Write['method'],
    edge: string,
    json: object,
  ) {
    return this.#shelf.change({ key: subject, ...change }, this.#write(operation, method, subject, edge, json))
  }

  #write(operation: string, method: Write['method'], subject: string, edge: string, json: object): Write {
    const path = `/v23.0/${this.#idOf(subject)}${edge}`
    return { operation, method, path, json: { messaging_product: 'msgapp', ...json } }
  }

  #idOf(subject: string): string {
    const id = this.#ids.get(subject)
    if (id === undefined) throw new Error(`the id of ${subject} is not known`)
    return id
  }

  async check(): Promise<void> {
    const { doors } = this.#parts
    const listed = await doors.list({ path: this.#path }, 100)
    const seen = new Map<string, Group>()
    this.#ids.clear()
    for (const { id, subject } of listed) {
      if (seen.has(subject)) throw new Contradiction(`groups: ${subject} was made twice`)
      const { description, join_approval_mode: mode, participants } = await doors.read({ path: `/v23.0/${id}` })
      const link = await this.#readLink(id)
      const requests = await doors.list({ path: `/v23.0/${id}/join_requests` }, 100)
      const waIds = (users: { wa_id: string }[]) => users.map(({ wa_id }) => wa_id).sort()
      seen.set(subject, { description, mode, link, users: waIds(participants), asking: waIds(requests) })
      this.#learn(subject, id, link)
    }
    if (this.#isBegun) this.#shelf.check(seen)
    else this.#shelf.begin(seen)
    this.#isBegun = true
  }
}
