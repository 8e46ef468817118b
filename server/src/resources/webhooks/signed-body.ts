import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../db/database.ts'
import { secretsInForce } from '../../delivery/secrets.ts'
import { HubVerifier } from '../../delivery/sign.ts'
import { isNodeId } from '../../graph/nodes.ts'
import { FirstAccountFinder } from './first-account.ts'
import { listAppsLinkedToAll } from './receiver-store.ts'

/** So many hashes of one piece are made before others have their turn. */
const hashesPerTurn = 8
/** A piece that is larger than this is a turn of its own where many have waited. */
const bytesPerTurn = 32_768

type LinkedApp = Awaited<ReturnType<typeof listAppsLinkedToAll>>[number]

interface Candidate {
  readonly app: LinkedApp | undefined
  readonly verifier: HubVerifier
}

export interface SignedBodyOptions {
  readonly db: Db
  readonly clock: Clock
  readonly signature: Buffer
  /** Whether a secret may have signed what comes from where this does. */
  readonly isTaken: (secret: string) => boolean
  /** What nobody has: with it the bodies are hashed that no app can have signed, which nobody must be able to tell. */
  readonly nobodysSecret: string
}

/**
 * Checks the signature of a body while it comes. Whoever signs has to be linked to every account in it, and so to the first; the
 * secrets of the apps that are linked to the first are the ones to try. Nothing of the body is parsed before one of them fits.
 */
export class SignedBody {
  readonly #options: SignedBodyOptions
  readonly #finder = new FirstAccountFinder()
  /** What came before the candidates were known. */
  #waiting: Buffer[] = []
  #candidates: readonly Candidate[] | undefined
  #hashedBytes = 0

  constructor(options: SignedBodyOptions) {
    this.#options = options
  }

  /** How many bytes were hashed, each as often as there were secrets to try. */
  get hashedBytes(): number {
    return this.#hashedBytes
  }

  /** Takes the next piece; the next is to come when the promise is kept, where there is one. */
  write(bytes: Buffer): Promise<void> | undefined {
    if (this.#candidates) return this.#hash(this.#candidates, bytes)
    this.#waiting.push(bytes)
    this.#finder.read(bytes)
    return this.#finder.found === undefined ? undefined : this.#begin(this.#finder.found)
  }

  /** The app that signed everything that came; undefined: none did. */
  async end(): Promise<LinkedApp | undefined> {
    if (!this.#candidates) await this.#begin(undefined)
    const { signature } = this.#options
    let signer: LinkedApp | undefined
    for (const { app, verifier } of this.#candidates ?? []) {
      if (verifier.matches(signature)) signer ??= app
    }
    return signer
  }

  async #begin(account: string | undefined): Promise<void> {
    const { db, clock, isTaken, nobodysSecret } = this.#options
    const apps = account !== undefined && isNodeId(account) ? await listAppsLinkedToAll(db, new Set([account])) : []
    const now = clock.now()
    const candidates: Candidate[] = apps.map((app) => ({
      app,
      verifier: new HubVerifier(secretsInForce(app, now).filter(isTaken)),
    }))
    const nobody = { app: undefined, verifier: new HubVerifier([nobodysSecret]) }
    this.#candidates = candidates.length > 0 ? candidates : [nobody]
    for (const bytes of this.#waiting) {
      await this.#hash(this.#candidates, bytes)
      if (bytes.length >= bytesPerTurn) await nextTurn()
    }
    this.#waiting = []
  }

  #hash(candidates: readonly Candidate[], bytes: Buffer): Promise<void> | undefined {
    for (const { verifier } of candidates) this.#hashedBytes += bytes.length * verifier.size
    if (candidates.length > hashesPerTurn) return hashInTurns(candidates, bytes)
    for (const { verifier } of candidates) verifier.update(bytes)
    return undefined
  }
}

async function hashInTurns(candidates: readonly Candidate[], bytes: Buffer): Promise<void> {
  for (const [index, { verifier }] of candidates.entries()) {
    if (index % hashesPerTurn === 0) await nextTurn()
    verifier.update(bytes)
  }
}
