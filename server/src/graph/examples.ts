/** What a row shows of itself: a request that works in the demo world (worlds/demo.yaml), and what it answers. */
export interface RowExamples {
  readonly input?: Readonly<Record<string, unknown>>
  readonly output: unknown
  /** The id in the path; left out: the demo world's first node of that kind. */
  readonly node?: string
  /** Whose token it takes, where that of the owner is not the one. */
  readonly by?: 'partner'
  /** The body of a row that takes bytes, in base64. */
  readonly bytes?: string
  /** What no world file can hold and has to be made first, in this order. */
  readonly first?: readonly Preparation[]
  /** What the example needs that no request can make, as a sentence. */
  readonly needs?: string
}

/** A request that makes what an example needs. */
export interface Preparation {
  /** The name of the row whose example is sent, after what that one needs itself. */
  readonly send: string
  /**
   * What is taken out of its answer, and as which argument it is used (`list/0`: the first of a list); left out: that it was
   * done is enough.
   */
  readonly take?: { readonly pointer: string; readonly as: string }
}

/** A picture of one transparent point. */
export const examplePicture = {
  base64: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  length: 70,
}
