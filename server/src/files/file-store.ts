import type { Readable } from 'node:stream'

/** A content, named by what is in it. */
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

/** Where bytes are kept, each content once. The file system now; what object storage offers would do as well. */
export interface FileStore {
  /**
   * Keeps what a stream holds: the whole of it or, when it breaks, nothing. `announce` is awaited when the content is known and
   * before it is in its place, so that whoever records it has done so before anybody can find the bytes.
   */
  put(source: AsyncIterable<Uint8Array>, announce: (file: StoredFile) => Promise<void>): Promise<StoredFile>
  /** The content, or a part of it; undefined when it is not there. `size` is that of the whole. */
  get(sha256: string, range?: ByteRange): Promise<{ stream: Readable; size: number } | undefined>
  /** Nothing happens when it is gone already. */
  remove(sha256: string): Promise<void>
}
