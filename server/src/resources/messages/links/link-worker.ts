import type { Log } from '../../../base/log/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type ClockTrust, fullTrust } from '../../../base/time/clock-trust.ts'
import { second } from '../../../base/time/duration.ts'
import { leaseHorizon } from '../../../base/time/lease.ts'
import { Loop } from '../../../base/work/loop.ts'
import type { Database, Transaction } from '../../../db/database.ts'
import type { MediaTable } from '../../../db/tables.ts'
import type { Egress } from '../../../egress/egress.ts'
import { EgressError } from '../../../egress/egress-error.ts'
import type { Files } from '../../../files/files.ts'
import { hasRoom } from '../../../files/stored-bytes.ts'
import { FilesUnavailable } from '../../../files/unavailable.ts'
import { createNode } from '../../../graph/nodes.ts'
import { findNumberNodeForGateway, insertMedia } from '../../media/store.ts'
import type { MediaMessageKind } from '../content/kinds.ts'
import { holdsOpus } from '../content/voice.ts'
import {
  claimLink,
  findFetched,
  listFreeLinks,
  noteFetched,
  releaseClaim,
  renewClaims,
  takeWaiting,
  uncountTry,
  type Waiting,
} from '../link-store.ts'
import { listTypes } from '../rules.ts'
import { finishWaiting } from '../send/continue-fetched.ts'
import type { PhoneTools } from '../status/phone.ts'
import { type FetchedFile, fetchLink, LinkError } from './fetch-link.ts'
import { FetchSlots } from './fetch-slots.ts'

const pollMilliseconds = second
const pollPauseMilliseconds = 20
/** So often a link is claimed; then its messages fail, whatever it was that ended each try. */
const maxTries = 5
/** So many links are looked through at once for those to fetch. */
const pageSize = 100
/** So many messages that waited for one link are sent in one transaction. */
const finishBatch = 50

export interface LinkWorkerDeps extends Omit<PhoneTools, 'publicUrl'> {
  readonly database: Database
  readonly log: Log
  readonly files: Files
  /** For links alone, because it may take longer than callbacks may. */
  readonly egress: Egress
  readonly publicUrl: () => string
  /** How long the links of a dead process wait before another one fetches them, in milliseconds. */
  readonly lease: number
  /** On which all processes agree: the clock of a sandbox may be moved while a link is fetched. */
  readonly leaseClock: Clock
  /** By default the clock is relied on. */
  readonly trust?: ClockTrust
}

interface InHand {
  readonly link_key: string
  readonly done: Promise<void>
}

/** A file for messages that waited for it. */
interface Given {
  readonly media: MediaTable
  readonly types: readonly string[]
  /** Called when it is stored for good. */
  readonly committed: () => void
}

/** Fetches the files behind links of messages: each by one process at a time, and again if that process dies. */
export class LinkWorker {
  readonly #deps: LinkWorkerDeps
  readonly #inHand = new Map<string, InHand>()
  readonly #slots = new FetchSlots()
  readonly #stopping = new AbortController()
  readonly #polls: Loop
  readonly #heartbeat: Loop

  constructor(deps: LinkWorkerDeps) {
    this.#deps = deps
    this.#polls = new Loop({
      work: () => this.#claimFree(),
      pause: pollPauseMilliseconds,
      every: pollMilliseconds,
      onFailure: (error) => this.#report(error),
    })
    this.#heartbeat = new Loop({
      work: () => this.#renew(),
      pause: 0,
      every: deps.lease / 4,
      onFailure: (error) => this.#report(error),
    })
  }

  start(): void {
    this.#polls.start()
    this.#heartbeat.start()
    this.wake()
  }

  wake(): void {
    this.#polls.wake()
  }

  /** Resolves when every link that waits now, and that no other process holds, was fetched. */
  async settle(): Promise<void> {
    do {
      this.#polls.wakeAtOnce()
      await this.#polls.settle()
      await Promise.all([...this.#inHand.values()].map(({ done }) => done))
    } while (
      !this.#polls.isStopped &&
      (this.#inHand.size > 0 || (await this.#listFree({ accounts: [], hosts: [] })).length > 0)
    )
  }

  /** Ends the fetches under way, which others or the next start go on with. */
  async stop(): Promise<void> {
    await this.#polls.stop()
    this.#stopping.abort(new EgressError('closed', 'the service is stopping'))
    await Promise.all([...this.#inHand.values()].map(({ done }) => done))
    await this.#heartbeat.stop()
  }

  /** Renews the leases of the links in hand, however slow their hosts are. */
  async #renew(): Promise<void> {
    const { database, leaseClock, lease } = this.#deps
    const claims = [...this.#inHand.keys()]
    if (claims.length > 0) await database.transaction((tx) => renewClaims(tx, claims, leaseClock.now() + lease))
  }

  async #listFree(full: {
    readonly accounts: readonly string[]
    readonly hosts: readonly string[]
  }): Promise<Waiting[]> {
    const { leaseClock, database, lease, trust = fullTrust } = this.#deps
    if (!trust.mayWork()) return []
    const now = leaseClock.now()
    return listFreeLinks(database.read, {
      now,
      horizon: leaseHorizon(now, lease),
      ...full,
      keys: [...this.#inHand.values()].map(({ link_key }) => link_key),
      limit: pageSize,
    })
  }

  /** Begins as many fetches as there is room for. Accounts and hosts without room are passed over, however many links of them wait. */
  async #claimFree(): Promise<void> {
    const slots = this.#slots
    while (!slots.isFull && !this.#polls.isStopped) {
      const links = await this.#listFree({ accounts: slots.fullAccounts(), hosts: slots.fullHosts() })
      let begun = 0
      for (const link of distinct(links)) {
        if (slots.hasRoomFor(link) && (await this.#begin(link))) begun += 1
      }
      // Of a full page all may be of accounts or hosts that became full meanwhile.
      if (links.length < pageSize || begun === 0) return
    }
  }

  async #begin(link: Waiting): Promise<boolean> {
    const { database, leaseClock, random, lease, trust = fullTrust } = this.#deps
    const claim = random.trace()
    const claimed = await database.transaction(async (tx) => {
      if (!trust.mayWork()) return false
      const now = leaseClock.now()
      return claimLink(tx, link, { claim, now, horizon: leaseHorizon(now, lease), until: now + lease })
    })
    if (!claimed) return false
    this.#slots.take(link)
    const done = this.#work(link, claim)
      // Its lease ends by itself.
      .catch((error: Error) => this.#report(error))
      .finally(() => {
        this.#slots.release(link)
        this.#inHand.delete(claim)
        this.wake()
      })
    this.#inHand.set(claim, { link_key: link.link_key, done })
    return true
  }

  async #work(link: Waiting, claim: string): Promise<void> {
    const { database, clock, settings } = this.#deps
    const now = clock.now()
    const known = await findFetched(database.read, link.link_key, now - settings.linkFetchCache, now)
    const file = known ?? (link.tries < maxTries ? await this.#fetch(link, claim) : 'failed')
    if (file === 'stopping') {
      await database.transaction((tx) => releaseClaim(tx, claim))
      return
    }
    if (file === 'failed') {
      await this.#finish(link, claim, () => Promise.resolve(undefined))
      return
    }
    const hasOpus = file.mime_type === 'audio/ogg' && (await holdsOpus(this.#deps.files, file))
    const types = listTypes(file, hasOpus)
    let kept = known
    await this.#finish(link, undefined, async (tx) => {
      const media = kept ?? (await this.#keep(tx, link, file))
      return {
        media,
        types,
        committed: () => {
          kept = media
        },
      }
    })
  }

  async #fetch(link: Waiting, claim: string): Promise<FetchedFile | 'failed' | 'stopping'> {
    const { log, database, egress, files, settings } = this.#deps
    try {
      // What is fetched already is kept: a file more than allowed for each that is under way.
      if (!(await hasRoom(database.read, link.account_id, 1, settings.maxStoredBytes))) {
        throw new LinkError('its account has stored as much as it may', 'final')
      }
      return await fetchLink({ egress, files, settings }, link.link, link.kind as MediaMessageKind, {
        stopping: this.#stopping.signal,
        isSilent: this.#slots.isSilent(link.host),
      })
    } catch (error) {
      if (error instanceof EgressError) return 'stopping'
      if (error instanceof FilesUnavailable) await this.#deps.database.transaction((tx) => uncountTry(tx, claim))
      if (!(error instanceof LinkError)) throw error
      if (error.failure === 'silent') this.#slots.noteSilence(link.host)
      // Neither the link nor its host: they are the content of a message.
      log.info({ phone_number_id: link.phone_number_id, claim, reason: error.message }, 'a link was not fetched')
      return 'failed'
    }
  }

  /** The file becomes a media file of the number, and is used again for a while. */
  async #keep(tx: Transaction, { phone_number_id, link_key }: Waiting, file: FetchedFile): Promise<MediaTable> {
    const { clock, random, settings } = this.#deps
    const node = await findNumberNodeForGateway(tx, phone_number_id)
    if (!node) throw new Error(`the phone number ${phone_number_id} is missing`)
    const now = clock.now()
    const id = await createNode(tx, random, 'media', node)
    const { account_id } = node
    const media = { id, phone_number_id, account_id, ...file, expires_time: now + settings.mediaLifetime }
    await insertMedia(tx, { clock, random }, media)
    await noteFetched(tx, { link_key, media_id: id, now, since: now - settings.linkFetchCache })
    return media
  }

  /** Takes the messages on that wait for a link, in batches; `give` returns the file for those of a batch. */
  async #finish(
    link: Waiting,
    claim: string | undefined,
    give: (tx: Transaction) => Promise<Given | undefined>,
  ): Promise<void> {
    const { database, publicUrl, ...deps } = this.#deps
    const tools: PhoneTools = { ...deps, publicUrl: publicUrl() }
    for (;;) {
      const { count, given } = await database.transaction(async (tx) => {
        const waiting = await takeWaiting(tx, link, claim, finishBatch)
        const given = waiting.length > 0 ? await give(tx) : undefined
        for (const one of waiting) await finishWaiting(tx, tools, one, given?.media, given?.types ?? [])
        return { count: waiting.length, given }
      })
      given?.committed()
      if (count < finishBatch) return
    }
  }

  #report(error: Error): void {
    const { database, log } = this.#deps
    if (!database.outageOf(error)) log.error({ err: error }, 'links could not be fetched')
  }
}

/** Each link of a number and a kind once. */
function distinct(links: readonly Waiting[]): Waiting[] {
  return [...new Map(links.map((link) => [`${link.link_key} ${link.kind}`, link])).values()]
}
