import type { Readable } from 'node:stream'

/** A blob, named by the hash of its bytes. */
export interface StoredFile {
  /** 64 hexadecimal digits. */
  readonly sha256: string
  readonly size: number
}

/** The bytes from `start` to `end`, both included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** A blob that has arrived completely but is not in its place yet: the receiver keeps it or discards it. */
export interface Arrival extends StoredFile {
  /** Reads some bytes; fewer than asked for at its end. */
  read(position: number, length: number): Promise<Buffer>
  /** Puts it in its place; `announce` as in `put`. */
  keep(announce: (file: StoredFile) => Promise<void>): Promise<void>
  /** Discards it; does nothing when it was kept. */
  discard(): Promise<void>
}

/** Random access to the bytes of a blob, wherever they are. */
export type ReadableBytes = Pick<Arrival, 'size' | 'read'>

/** Stores blobs, each once. On the file system now; the interface also fits object storage. */
export interface FileStore {
  /**
   * Stores a stream completely or, when it breaks, not at all. `announce` is awaited after the hash is known and before the blob is in
   * its place, so that a caller can record it before anybody can find the bytes.
   */
  put(source: AsyncIterable<Uint8Array>, announce: (file: StoredFile) => Promise<void>): Promise<StoredFile>
  /** The first half of `put`, for callers that must inspect a blob before keeping it. */
  receive(source: AsyncIterable<Uint8Array>): Promise<Arrival>
  /** The blob, or a part of it; undefined when it does not exist. `size` is that of the whole. */
  get(sha256: string, range?: ByteRange): Promise<{ stream: Readable; size: number } | undefined>
  /** Does nothing when it is already gone. */
  remove(sha256: string): Promise<void>
}
