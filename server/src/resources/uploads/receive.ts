import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../db/database.ts'
import type { UploadsTable } from '../../db/tables.ts'
import type { Node } from '../../graph/nodes.ts'
import type { RawBody } from '../../graph/operation.ts'
import type { Outside } from '../../graph/outside.ts'
import { readInBatches } from './batches.ts'
import { uploadBrokeOff } from './errors.ts'
import { checkOffset, isOfType, refuseExcess } from './rules.ts'
import type { UploadType } from './schemas.ts'
import { findUpload, lockUpload, moveOffset, partOf } from './store.ts'

interface Reception {
  /** What is committed. */
  readonly db: Db
  readonly node: Node
  readonly clock: Clock
  readonly outside: Outside
}

/**
 * Takes the bytes of one request and returns the offset behind them. Each batch is written and recorded under the lock of the
 * upload's row and only where those before it ended, so that requests at the same moment never mix their bytes, and a process
 * that dies leaves the upload at the last batch.
 */
export async function receiveBytes(
  { node, clock, outside }: Reception,
  upload: UploadsTable,
  body: RawBody,
): Promise<number> {
  const start = upload.file_offset
  if (body.length !== undefined && body.length > upload.file_length - start) throw refuseExcess(upload)
  let offset = start

  async function keep(batch: Buffer): Promise<void> {
    if (offset + batch.length > upload.file_length) {
      await rewind()
      throw refuseExcess(upload)
    }
    await outside.transaction(async (tx) => {
      const current = await lockUpload(tx, node, clock)
      checkOffset(current, offset)
      await outside.parts.write(partOf(node.id), offset, batch)
      await moveOffset(tx, current, offset + batch.length)
    })
    offset += batch.length
  }

  /** Who sends too much has another file than the one that was announced: what came of it is forgotten. */
  async function rewind(): Promise<void> {
    await outside.transaction(async (tx) => {
      const current = await lockUpload(tx, node, clock)
      if (current.file_offset === offset && current.handle === null) await moveOffset(tx, current, start)
    })
  }

  if ((await readInBatches(body.stream, keep)) === 'broken') {
    throw uploadBrokeOff({ arrived: offset, length: upload.file_length })
  }
  return offset
}

/** What became of an upload of which all bytes have arrived. */
export type Stored =
  | { readonly outcome: 'stored'; readonly sha256: string }
  | { readonly outcome: 'wrong type'; readonly found: string | undefined }
  | { readonly outcome: 'stored before' }

/** Some kinds of file are told by bytes further in than the signature. */
const sampleBytes = 4100

/** Makes a content of the bytes, if they are of the type that was announced. */
export async function storeUpload({ db, node, clock, outside }: Reception, upload: UploadsTable): Promise<Stored> {
  const { parts, files } = outside
  const start = await parts.read(partOf(node.id), Math.min(upload.file_length, sampleBytes))
  const sample = start && Buffer.concat(await Array.fromAsync<Buffer>(start))
  if (sample && !isOfType(sample, upload.file_type as UploadType)) {
    return { outcome: 'wrong type', found: await nameType(sample) }
  }
  const bytes = await parts.read(partOf(node.id), upload.file_length)
  if (!bytes) {
    // Another request found all the bytes there at the same moment, and has finished the upload since.
    const current = await findUpload(db, node, clock)
    if (current.handle !== null) return { outcome: 'stored before' }
    throw new Error(`the bytes of ${node.id} are gone`)
  }
  try {
    const { sha256, size } = await files.put(bytes)
    if (size !== upload.file_length)
      throw new Error(`${node.id} has ${size} of its ${upload.file_length} bytes on disk`)
    return { outcome: 'stored', sha256 }
  } finally {
    bytes.destroy()
  }
}

async function nameType(sample: Buffer): Promise<string | undefined> {
  // Loading it takes a tenth of the service's whole start, and only mistakes need it.
  const { fileTypeFromBuffer } = await import('file-type')
  return (await fileTypeFromBuffer(sample))?.mime
}
