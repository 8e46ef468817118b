import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ids, numbers } from '../../world.ts'
import type { ChapterWriter, WriterDeps } from '../chapter-writer.ts'
import { Contradiction, Shelf } from '../shelf.ts'
import type { StoreView } from '../store-view.ts'

interface Upload {
  readonly name: string
  readonly bytes: Buffer
  /** So many bytes were acknowledged. */
  offset: number
  /** While a piece is under way, up to so many may have arrived. */
  sentUpTo: number
  handle: string | undefined
  /** Whether all of it has become a content; the answer with the handle may have been lost. */
  isFinished: boolean
  isUsed: boolean
  /** An upload goes when so many hours have passed since it was opened or finished. */
  hoursLeft: number
}

interface Profile {
  readonly about: string
  readonly address: string
  /** The digest of the picture, which only an upload gives it. */
  readonly picture: string | null
}

const signature = Buffer.from('89504e470d0a1a0a', 'hex')
const maxOpenUploads = 3
const lifetimeHours = 2

/** Pictures that are uploaded in pieces, go on after a death from where they stopped, and become the picture of a profile. */
export class PicturesWriter implements ChapterWriter {
  readonly name = 'profile and uploads'
  readonly #parts: WriterDeps
  readonly #profile: Shelf<Profile>
  readonly #dataDir: string
  readonly #uploads = new Map<string, Upload>()
  #opening: Pick<Upload, 'name' | 'bytes'> | undefined
  #using: Upload | undefined
  #count = 0
  #hoursSinceCheck = 0

  constructor(parts: WriterDeps, dataDir: string) {
    this.#parts = parts
    this.#profile = new Shelf('profile', parts.doors)
    this.#dataDir = dataDir
  }

  async act(): Promise<void> {
    const { chance } = this.#parts
    const unfinished = [...this.#uploads].filter(([, { handle }]) => handle === undefined)
    const unused = [...this.#uploads.values()].filter(({ handle, isUsed }) => handle !== undefined && !isUsed)
    const roll = chance.next()
    if (roll < 0.2) return this.#updateProfile(undefined)
    if (unused.length > 0 && roll < 0.6) return this.#updateProfile(chance.pick(unused))
    if (unfinished.length < maxOpenUploads && roll < 0.8) return this.#openUpload()
    if (unfinished.length > 0) return this.#sendPiece(...chance.pick(unfinished))
    return this.#updateProfile(undefined)
  }

  async #openUpload(): Promise<void> {
    const { doors, chance } = this.#parts
    // Some are larger than what is written at once.
    const length = chance.happens(0.2) ? 300_000 + chance.below(300_000) : 20 + chance.below(20_000)
    const start = Buffer.concat([signature, chance.bytes(12)])
    const bytes = Buffer.concat([start, Buffer.alloc(length - start.length, chance.below(256))])
    this.#opening = { name: `picture-${this.#count++}.png`, bytes }
    const { body } = await doors.write({
      operation: 'uploads.create',
      method: 'POST',
      path: `/v23.0/${ids.application}/uploads`,
      json: { file_length: length, file_type: 'image/png', file_name: this.#opening.name },
    })
    this.#keep(body.id, this.#opening)
    this.#opening = undefined
  }

  #keep(id: string, opened: Pick<Upload, 'name' | 'bytes'>): void {
    const fresh = { offset: 0, sentUpTo: 0, handle: undefined, isFinished: false, isUsed: false }
    this.#uploads.set(id, { ...opened, ...fresh, hoursLeft: lifetimeHours - this.#hoursSinceCheck })
  }

  async #sendPiece(id: string, upload: Upload): Promise<void> {
    const { doors, chance } = this.#parts
    const { bytes, offset } = upload
    const rest = bytes.length - offset
    const size = chance.happens(0.5) ? rest : Math.ceil(rest * chance.next())
    upload.sentUpTo = offset + size
    const { body } = await doors.write({
      operation: 'uploads.append',
      method: 'POST',
      path: `/v23.0/${id}`,
      raw: bytes.subarray(offset, offset + size),
      headers: { file_offset: String(offset) },
    })
    upload.offset = upload.sentUpTo
    if (upload.offset < bytes.length) {
      if (body.file_offset !== upload.offset) throw new Contradiction(`upload: it stands at ${body.file_offset}`)
      return
    }
    upload.handle = body.h
    if (!upload.isFinished) upload.hoursLeft = lifetimeHours
    upload.isFinished = true
  }

  async #updateProfile(upload: Upload | undefined): Promise<void> {
    const count = this.#count++
    const before = this.#profile.known.get('it')
    const value = {
      about: `About ${count}`,
      address: `${count} Garden Way`,
      picture: upload ? digest(upload.bytes) : (before?.picture ?? null),
    }
    this.#using = upload
    await this.#profile.change(
      { key: 'it', value },
      {
        operation: 'profile.update',
        method: 'POST',
        path: `/v23.0/${numbers.main}/msgapp_business_profile`,
        json: {
          messaging_product: 'msgapp',
          about: value.about,
          address: value.address,
          ...(upload && { profile_picture_handle: upload.handle }),
        },
      },
    )
    if (upload) upload.isUsed = true
    this.#using = undefined
  }

  async check(store: StoreView): Promise<void> {
    await this.#checkUploads(store)
    await this.#checkProfile()
    await this.#checkPieces(store)
  }

  async #checkProfile(): Promise<void> {
    const { doors } = this.#parts
    const { data } = await doors.read({ path: `/v23.0/${numbers.main}/msgapp_business_profile` })
    const { about, address, profile_picture_url: url } = data[0].business_profile
    const picture = url === undefined ? null : await doors.download(new URL(url).pathname)
    if (picture === undefined) throw new Contradiction('profile: it has a picture whose bytes are gone')
    const seen = new Map(about === undefined ? [] : [['it', { about, address, picture: picture && digest(picture) }]])
    const outcome = this.#profile.check(seen)
    if (outcome === 'happened' && this.#using) this.#using.isUsed = true
    this.#using = undefined
  }

  async #checkUploads(store: StoreView): Promise<void> {
    const { doors } = this.#parts
    const rows = store.rows<{ id: string; file_name: string; file_length: number; handle: string | null }>(
      'SELECT id, file_name, file_length, handle FROM uploads',
    )
    for (const { id, file_name, file_length, handle } of rows) {
      const known = this.#uploads.get(id)
      if (known && handle !== null && !known.isFinished) {
        known.isFinished = true
        known.hoursLeft = lifetimeHours - this.#hoursSinceCheck
      }
      if (known) continue
      if (this.#opening?.name !== file_name || this.#opening.bytes.length !== file_length) {
        throw new Contradiction(`upload ${id} is there but was never asked for`)
      }
      this.#keep(id, this.#opening)
      this.#opening = undefined
    }
    this.#opening = undefined
    for (const [id, upload] of this.#uploads) {
      const state = await doors.read({ path: `/v23.0/${id}` })
      if (!state && upload.hoursLeft <= 0) {
        this.#uploads.delete(id)
        continue
      }
      if (!state) throw new Contradiction(`upload ${id} is lost, of which ${upload.offset} bytes were acknowledged`)
      const { file_offset } = state
      if (file_offset < upload.offset || file_offset > upload.sentUpTo) {
        throw new Contradiction(
          `upload ${id} stands at ${file_offset}, not between ${upload.offset}, which was acknowledged, and ${upload.sentUpTo}, which was sent`,
        )
      }
      upload.offset = file_offset
      upload.sentUpTo = file_offset
    }
    this.#hoursSinceCheck = 0
  }

  /** What has arrived of an unfinished upload is on the disk, byte for byte. */
  async #checkPieces(store: StoreView): Promise<void> {
    const rows = store.rows<{ id: string; file_offset: number }>(
      'SELECT id, file_offset FROM uploads WHERE handle IS NULL AND file_offset > 0',
    )
    for (const { id, file_offset } of rows) {
      const bytes = this.#uploads.get(id)?.bytes
      const pieces = store.rows<{ name: string; size: number }>(
        `SELECT name, size FROM upload_pieces WHERE upload_id = '${id}' ORDER BY file_offset`,
      )
      const folder = join(this.#dataDir, 'uploads', `${id.replace('upload:', '')}.pieces`)
      const arrived = Buffer.concat(await Promise.all(pieces.map(({ name }) => readFile(join(folder, name)))))
      if (arrived.length !== file_offset || !bytes?.subarray(0, file_offset).equals(arrived)) {
        throw new Contradiction(`upload ${id} has other bytes on the disk than those that were sent`)
      }
    }
  }

  passTime(): void {
    this.#hoursSinceCheck++
    for (const [id, upload] of this.#uploads) {
      upload.hoursLeft--
      // The piece that was under way may have finished it, which gives it more time.
      const mayBeFinished = !upload.isFinished && upload.sentUpTo === upload.bytes.length
      if (upload.hoursLeft <= 0 && !mayBeFinished) this.#uploads.delete(id)
    }
  }
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
