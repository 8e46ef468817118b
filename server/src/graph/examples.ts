/** The example of a row: a request that works in the demo world (worlds/demo.yaml), and its response. */
export interface RowExamples {
  readonly input?: Readonly<Record<string, unknown>>
  readonly output: unknown
  /** The id in the path; by default the demo world's first node of that kind. */
  readonly node?: string
  /** Whose token it needs, if not the owner's; `spare`: one that nobody else needs, because it may end. */
  readonly by?: 'partner' | 'operator' | 'spare'
  /** The body of a row that takes bytes, in base64. */
  readonly bytes?: string
  /** What no world file can hold and must be made first, in this order. */
  readonly first?: readonly Preparation[]
  /** What the example needs that no request can make, as a sentence. */
  readonly needs?: string
}

/** A request that makes what an example needs. */
export interface Preparation {
  /** The name of the row whose example is sent, after that row's own needs. */
  readonly send: string
  /**
   * The value taken from its response, and the argument that uses it (`list/0`: the first of a list); left out when only the effect is
   * needed.
   */
  readonly take?: { readonly pointer: string; readonly as: string }
}

/** An image of one transparent pixel. */
export const examplePicture = {
  base64: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  length: 70,
}
