import type { SignedBody, SignedBodyOptions, SigningApp } from '../../../chapter.ts'
import { HubVerifier } from '../../../delivery/post/sign.ts'
import { secretsInForce } from '../../../delivery/store/signing-secrets.ts'
import { isNodeId } from '../../../graph/nodes.ts'
import { FirstAccountFinder } from './first-account.ts'
import { listAppsLinkedToAll } from './receiver-store.ts'

interface Candidate {
  readonly app: SigningApp | undefined
  readonly verifier: HubVerifier
}

/**
 * Checks the signature of a body while it arrives. The signer must be linked to every account in it, and so to the first; the secrets of
 * the apps linked to the first are tried. Nothing of the body is parsed before one of them matches.
 */
export class VerifiedBody implements SignedBody {
  readonly #options: SignedBodyOptions
  readonly #finder = new FirstAccountFinder()
  /** The bytes that arrived before the candidates were known. */
  #waiting: Buffer[] = []
  #candidates: readonly Candidate[] | undefined
  #hashedBytes = 0

  constructor(options: SignedBodyOptions) {
    this.#options = options
  }

  get hashedBytes(): number {
    return this.#hashedBytes
  }

  write(bytes: Buffer): Promise<void> | undefined {
    if (this.#candidates) return this.#hash(this.#candidates, bytes)
    this.#waiting.push(bytes)
    const read = this.#options.time.run(() => this.#finder.read(bytes))
    if (read) return read.then(() => this.#beginWhenFound())
    return this.#beginWhenFound()
  }

  #beginWhenFound(): Promise<void> | undefined {
    return this.#finder.found === undefined ? undefined : this.#begin(this.#finder.found)
  }

  async end(): Promise<SigningApp | undefined> {
    if (!this.#candidates) await this.#begin(undefined)
    const { signature } = this.#options
    let signer: SigningApp | undefined
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
      verifier: new HubVerifier(secretsInForce(db, app, now).filter(isTaken)),
    }))
    const nobody = { app: undefined, verifier: new HubVerifier([nobodysSecret]) }
    this.#candidates = candidates.length > 0 ? candidates : [nobody]
    for (const bytes of this.#waiting) await this.#hash(this.#candidates, bytes)
    this.#waiting = []
  }

  #hash(candidates: readonly Candidate[], bytes: Buffer): Promise<void> | undefined {
    const [first, ...others] = candidates
    const hashed = first && this.#hashWith(first, bytes)
    return hashed || others.length > 0 ? this.#hashWithOthers(hashed, others, bytes) : undefined
  }

  async #hashWithOthers(first: Promise<void> | undefined, others: readonly Candidate[], bytes: Buffer): Promise<void> {
    await first
    for (const candidate of others) await this.#hashWith(candidate, bytes)
  }

  #hashWith({ verifier }: Candidate, bytes: Buffer): Promise<void> | undefined {
    this.#hashedBytes += bytes.length * verifier.size
    return this.#options.time.run(() => verifier.update(bytes)) ?? undefined
  }
}
