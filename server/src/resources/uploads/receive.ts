import type { Random } from '../../base/keys/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Db, Transaction } from '../../db/database.ts'
import type { UploadPiecesTable, UploadsTable } from '../../db/tables.ts'
import type { RawBody } from '../../graph/context.ts'
import { GraphError } from '../../graph/graph-error.ts'
import type { Node } from '../../graph/nodes.ts'
import type { Ports } from '../../graph/ports.ts'
import { readInBatches } from './batches.ts'
import { uploadBrokeOff } from './errors.ts'
import { checkOffset, isOfType, nameType, refuseExcess } from './rules.ts'
import type { UploadType } from './schemas.ts'
import { addPiece, fileOf, findUpload, listPieces, lockUpload, rewindUpload } from './store.ts'

interface Reception {
  /** The committed bytes. */
  readonly db: Db
  readonly node: Node
  readonly clock: Clock
  readonly random: Random
  readonly ports: Ports
}

/**
 * Stores the bytes of one request and returns the offset after them. Each batch is a piece: it is on disk before it is recorded, and
 * recorded only where the previous pieces end. So concurrent requests never mix their bytes, a process that dies leaves the upload at
 * the last piece, and no transaction waits for the disk.
 */
export async function receiveBytes(
  { db, node, clock, random, ports }: Reception,
  upload: UploadsTable,
  body: RawBody,
): Promise<number> {
  const { pieces } = ports
  const file = fileOf(node.id)
  const start = upload.file_offset
  if (body.length !== undefined && body.length > upload.file_length - start) throw refuseExcess(upload)
  let offset = start

  async function keep(batch: Buffer): Promise<void> {
    if (offset + batch.length > upload.file_length) {
      await rewind()
      throw refuseExcess(upload)
    }
    // A request that comes too late is refused before anything is written.
    checkOffset(await findUpload(db, node, clock), offset)
    const name = `${offset}-${random.bytes(12).toString('hex')}`
    await pieces.put(file, name, batch)
    try {
      await ports.transaction((tx) => record(tx, { upload_id: node.id, file_offset: offset, size: batch.length, name }))
    } catch (error) {
      // Refused, so certainly not recorded. After any other error it may be recorded; if not, it is removed with the upload.
      if (error instanceof GraphError) await pieces.remove(file, name)
      throw error
    }
    offset += batch.length
  }

  async function record(tx: Transaction, piece: UploadPiecesTable): Promise<void> {
    if (await addPiece(tx, clock, piece)) return
    checkOffset(await findUpload(tx, node, clock), offset)
    throw new Error(`${node.id} takes no piece at ${offset}`)
  }

  /** A sender of too many bytes has a different file from the announced one: its bytes are discarded. */
  async function rewind(): Promise<void> {
    const names = await ports.transaction(async (tx) => {
      const current = await lockUpload(tx, node, clock)
      return current.file_offset === offset && current.handle === null ? rewindUpload(tx, current, start) : []
    })
    for (const name of names) await pieces.remove(file, name)
  }

  if ((await readInBatches(body.stream, keep)) === 'broken') {
    throw uploadBrokeOff({ arrived: offset, length: upload.file_length })
  }
  return offset
}

/** The result of an upload whose bytes have all arrived. */
export type Stored =
  | { readonly outcome: 'stored'; readonly sha256: string }
  | { readonly outcome: 'wrong type'; readonly found: string | undefined }
  | { readonly outcome: 'stored before' }

/** Some kinds of file are identified by bytes beyond the signature. */
const sampleBytes = 4100

/** Moves the bytes to the blob store, if they are of the announced type. */
export async function storeUpload(reception: Reception, upload: UploadsTable): Promise<Stored> {
  try {
    return await storePieces(reception, upload)
  } catch (error) {
    // Another request also found all bytes present, and has finished the upload since.
    const current = await findUpload(reception.db, reception.node, reception.clock)
    if (current.handle !== null) return { outcome: 'stored before' }
    throw error
  }
}

async function storePieces({ db, node, ports }: Reception, upload: UploadsTable): Promise<Stored> {
  const pieces = await listPieces(db, node.id)
  const read = () => ports.pieces.read(fileOf(node.id), pieces)
  const sample = await readStart(read(), sampleBytes)
  if (!(await isOfType(sample, upload.file_type as UploadType))) {
    return { outcome: 'wrong type', found: await nameType(sample) }
  }
  const { sha256, size } = await ports.files.put(read())
  if (size !== upload.file_length) throw new Error(`${node.id} has ${size} of its ${upload.file_length} bytes on disk`)
  return { outcome: 'stored', sha256 }
}

async function readStart(bytes: AsyncIterable<Uint8Array>, length: number): Promise<Buffer> {
  let start = Buffer.alloc(0)
  for await (const chunk of bytes) {
    start = Buffer.concat([start, chunk])
    if (start.length >= length) break
  }
  return start.subarray(0, length)
}
