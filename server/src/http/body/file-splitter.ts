import type { GraphError } from '../../graph/graph-error.ts'
import type { Arguments } from '../../graph/input/input.ts'

export interface SplitterDeps {
  /** The name of the member whose text is the file. */
  readonly member: string
  /** The largest size of the rest of the body. */
  readonly maxRestBytes: number
  tooMuchRest(): GraphError
  /** Reserves the memory for bytes of the rest. */
  holdRest(bytes: number): void
  /** Receives the text of the file, chunk by chunk. */
  onText(text: string): void
}

/** Extracts a file from a body that holds it as text, without ever holding the file or the body whole in memory. */
export interface FileSplitter {
  take(chunk: Buffer): void
  /** The arguments besides the file, which is replaced by an empty text. */
  end(): Arguments
  readonly hasFile: boolean
}

/** The part of a body that is kept. */
export class RestOfBody<Piece extends string | Buffer> {
  readonly pieces: Piece[] = []
  readonly #deps: SplitterDeps
  #length = 0

  constructor(deps: SplitterDeps) {
    this.#deps = deps
  }

  keep(piece: Piece): void {
    this.#length += piece.length
    if (this.#length > this.#deps.maxRestBytes) throw this.#deps.tooMuchRest()
    this.#deps.holdRest(piece.length)
    this.pieces.push(piece)
  }
}
