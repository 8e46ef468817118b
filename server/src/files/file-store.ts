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

/** A content that has arrived whole but is not in its place yet: whoever asked for it keeps it or lets it go. */
export interface Arrival extends StoredFile {
  /** Some bytes of it; fewer than asked for at its end. */
  read(position: number, length: number): Promise<Buffer>
  /** Puts it in its place; `announce` is the one of `put`. */
  keep(announce: (file: StoredFile) => Promise<void>): Promise<void>
  /** Lets it go; nothing happens when it was kept. */
  discard(): Promise<void>
}

/** Some bytes of a content, wherever they are. */
export type ReadableBytes = Pick<Arrival, 'size' | 'read'>

/** Where bytes are kept, each content once. The file system now; what object storage offers would do as well. */
export interface FileStore {
  /**
   * Keeps what a stream holds: the whole of it or, when it breaks, nothing. `announce` is awaited when the content is known and
   * before it is in its place, so that whoever records it has done so before anybody can find the bytes.
   */
  put(source: AsyncIterable<Uint8Array>, announce: (file: StoredFile) => Promise<void>): Promise<StoredFile>
  /** The first half of `put`, for who has to look at a content before it is kept. */
  receive(source: AsyncIterable<Uint8Array>): Promise<Arrival>
  /** The content, or a part of it; undefined when it is not there. `size` is that of the whole. */
  get(sha256: string, range?: ByteRange): Promise<{ stream: Readable; size: number } | undefined>
  /** Nothing happens when it is gone already. */
  remove(sha256: string): Promise<void>
}
