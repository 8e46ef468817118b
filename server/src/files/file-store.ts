import type { Readable } from 'node:stream'

/** A blob, named by the hash of its bytes. */
export interface StoredFile {
  /** 64 hexadecimal digits. */
  readonly sha256: string
  readonly size: number
}

/** Where a blob is. `place` distinguishes the times that the same blob was stored; empty: none is needed. */
export interface BlobPlace {
  readonly sha256: string
  readonly place: string
}

/** The bytes from `start` to `end`, both included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Records a blob before anybody can find its bytes; returns its place. */
export type Announce = (file: StoredFile) => Promise<string>

/** A blob that has arrived completely but is not in its place yet: the receiver keeps it or discards it. */
export interface Arrival extends StoredFile {
  /** Reads some bytes; fewer than asked for at its end. */
  read(position: number, length: number): Promise<Buffer>
  /** Puts it in its place; `announce` as in `put`. */
  keep(announce: Announce): Promise<void>
  /** Discards it; does nothing when it was kept. */
  discard(): Promise<void>
}

/** Random access to the bytes of a blob, wherever they are. */
export type ReadableBytes = Pick<Arrival, 'size' | 'read'>

/** Stores blobs, each once: on the file system, or in object storage. */
export interface FileStore {
  /**
   * Whether a removal may take effect long after it was given up. Then a blob that is stored again after its removal gets another
   * place, so that a late removal cannot take the new bytes.
   */
  readonly removesLate: boolean
  /**
   * Stores a stream completely or, when it breaks, not at all. `announce` is awaited after the hash is known and before the blob is in
   * its place, so that a caller can record it before anybody can find the bytes.
   */
  put(source: AsyncIterable<Uint8Array>, announce: Announce): Promise<StoredFile>
  /** The first half of `put`, for callers that must inspect a blob before keeping it. */
  receive(source: AsyncIterable<Uint8Array>): Promise<Arrival>
  /** The blob, or a part of it; undefined when it does not exist. `size` is that of the whole. */
  get(blob: BlobPlace, range?: ByteRange): Promise<{ stream: Readable; size: number } | undefined>
  /** Its size, and when it was stored, in milliseconds by the clock of the storage; undefined when it does not exist. */
  find(blob: BlobPlace): Promise<{ size: number; stored_time: number } | undefined>
  /** All blobs, page by page. */
  list(): AsyncGenerator<readonly BlobPlace[]>
  /**
   * Records that a database uses the store, and distinguishes its blobs from those of another one. Places begin with the
   * name of the owner.
   */
  claim(owner: string): Promise<(blob: BlobPlace) => boolean>
  /** Does nothing when it is already gone. */
  remove(blob: BlobPlace): Promise<void>
  close(): Promise<void>
}

/** What is random in a place, behind the name of its owner. */
export const placeBytes = 9

const sha256Pattern = /^[\da-f]{64}$/

export function isName(sha256: string): boolean {
  return sha256Pattern.test(sha256)
}

export function checkName(sha256: string): void {
  if (!isName(sha256)) throw new Error('a blob is named by the 64 hexadecimal digits of its SHA-256')
}

/** `put` by `receive`. */
export async function putReceived(
  receive: FileStore['receive'],
  source: AsyncIterable<Uint8Array>,
  announce: Announce,
): Promise<StoredFile> {
  const arrival = await receive(source)
  try {
    await arrival.keep(announce)
  } finally {
    await arrival.discard()
  }
  const { sha256, size } = arrival
  return { sha256, size }
}
