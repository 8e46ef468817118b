import type { GraphError } from '../graph/graph-error.ts'
import type { Arguments } from '../graph/input.ts'

export interface SplitterDeps {
  /** The name of the member whose text is the file. */
  readonly member: string
  /** The most that the rest of the body may have. */
  readonly maxRestBytes: number
  tooMuchRest(): GraphError
  /** Gets the text of the file piece by piece. */
  onText(text: string): void
}

/** Takes a file out of a body that holds it as text; so neither of them is ever whole in memory, nor read in one go. */
export interface FileSplitter {
  take(chunk: Buffer): void
  /** The arguments besides the file, which has an empty text in its place. */
  end(): Arguments
  readonly hasFile: boolean
}

/** What is kept of a body. */
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
    this.pieces.push(piece)
  }
}
