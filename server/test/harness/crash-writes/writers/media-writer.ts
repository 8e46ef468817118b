import { createHash } from 'node:crypto'
import { png } from '../../media-files.ts'
import { numbers, tokens } from '../../world.ts'
import type { ChapterWriter, WriterDeps } from '../chapter-writer.ts'
import { Shelf } from '../shelf.ts'

interface Medium {
  readonly sha256: string
  readonly file_size: number
}

const maxMedia = 12
const lifetimeHours = 3

/** Media that are uploaded and deleted; some have the same bytes, and so share a file. */
export function mediaWriter({ doors, chance }: WriterDeps): ChapterWriter {
  const path = `/v23.0/${numbers.shared}/media`
  const shelf = new Shelf<Medium>('media', doors)
  /** When media go, by the hours that have passed. */
  const goneAt = new Map<string, number>()
  let hours = 0
  let hoursAtCheck = 0
  let count = 0

  function drawFile(): Buffer {
    const isShared = chance.happens(0.4)
    const tail = Buffer.from(isShared ? `shared ${chance.below(3)}` : `file ${count++}`)
    const size = chance.happens(0.1) ? 1_000_000 : chance.below(5000)
    return Buffer.concat([png, tail, Buffer.alloc(isShared ? 1000 : size, 7)])
  }

  /** By the business, or by a user. */
  function drawUpload(form: FormData) {
    if (chance.happens(0.3)) {
      form.set('phone_number_id', numbers.shared)
      const path = '/gateway/media'
      return { operation: 'gateway.upload_media', method: 'POST', path, token: tokens.gateway, form } as const
    }
    form.set('messaging_product', 'msgapp')
    return { operation: 'media.upload', method: 'POST', path, form } as const
  }

  return {
    name: 'media',
    async act() {
      const ids = [...shelf.known.keys()]
      if (ids.length >= maxMedia || (ids.length > 3 && chance.happens(0.45))) {
        const key = chance.pick(ids)
        const write = { operation: 'media.delete', method: 'DELETE', path: `/v23.0/${key}` } as const
        await shelf.change({ key, value: undefined }, write)
        return
      }
      const bytes = drawFile()
      const value = { sha256: createHash('sha256').update(bytes).digest('hex'), file_size: bytes.length }
      const form = new FormData()
      form.set('file', new Blob([new Uint8Array(bytes)], { type: 'image/png' }), 'picture.png')
      await shelf.change({ value }, drawUpload(form), ({ body }) => ({ key: body.id }))
    },
    async check(store) {
      // No door lists media, so those that nobody was told of are looked for among the rows.
      const rows = store.rows<{ id: string }>(`SELECT id FROM media WHERE phone_number_id = '${numbers.shared}'`)
      const seen = new Map<string, Medium>()
      for (const id of new Set([...shelf.known.keys(), ...rows.map((row) => row.id)])) {
        const medium = await doors.read({ path: `/v23.0/${id}` })
        if (!medium) continue
        const { sha256, file_size, url } = medium
        const { pathname, search } = new URL(url)
        const bytes = await doors.download(`${pathname}${search}`, tokens.owner)
        const found = bytes && createHash('sha256').update(bytes).digest('hex')
        seen.set(id, found === sha256 ? { sha256, file_size } : { sha256: `bytes of ${found}`, file_size })
      }
      shelf.check(seen)
      for (const id of goneAt.keys()) if (!seen.has(id)) goneAt.delete(id)
      // Those that are new came into being after the last check and before any hour that has passed since.
      for (const id of seen.keys()) goneAt.set(id, goneAt.get(id) ?? hoursAtCheck + lifetimeHours)
      hoursAtCheck = hours
    },
    passTime() {
      hours++
      for (const [id, hour] of goneAt) if (hour <= hours) shelf.expect(id, undefined)
    },
  }
}
