import { GraphError } from '../../graph/graph-error.ts'
import type { Post, Received } from './post.ts'

export interface PostGroupsOptions {
  readonly takeAlone: (post: Post) => Promise<Received>
  /** Takes several posts of one share in one transaction; what refuses one of them is its outcome. */
  readonly takeTogether: (posts: readonly Post[], share: string) => Promise<readonly (Received | GraphError)[]>
  /** Whether an error says that the store does not work at the moment: then it is no post's doing. */
  readonly isOutage: (error: unknown) => boolean
}

interface Waiting {
  readonly post: Post
  readonly resolve: (received: Received | Promise<Received>) => void
  readonly reject: (error: unknown) => void
}

interface Share {
  readonly waiting: Waiting[]
  underWay: number
  isScheduled: boolean
}

const maxGroup = 64
/** Groups of one share under way: the second and later ones only for those who would wait long. */
const maxUnderWay = 4
/** Milliseconds after which those that wait go without waiting for the group before them: it may hang on a lock. */
const patience = 20

/**
 * Takes the posts of one moment together, as the embedded store does with all writes: a group costs as many statements as a single
 * post. Those that come while a group is under way are the next one. Where a group fails by one of its posts, each is taken alone.
 */
export class PostGroups {
  readonly #options: PostGroupsOptions
  readonly #shares = new Map<string, Share>()

  constructor(options: PostGroupsOptions) {
    this.#options = options
  }

  take(name: string, post: Post): Promise<Received> {
    let share = this.#shares.get(name)
    if (!share) {
      share = { waiting: [], underWay: 0, isScheduled: false }
      this.#shares.set(name, share)
    }
    const { waiting } = share
    return new Promise((resolve, reject) => {
      waiting.push({ post, resolve, reject })
      this.#schedule(name, share)
    })
  }

  /** Posts that came in together are read in one turn of the loop; then they are all here. */
  #schedule(name: string, share: Share): void {
    if (share.isScheduled) return
    share.isScheduled = true
    const begin = () => {
      share.isScheduled = false
      this.#begin(name, share)
    }
    if (share.underWay === 0) setImmediate(begin)
    else setTimeout(begin, patience)
  }

  #begin(name: string, share: Share): void {
    const mayBegin = share.waiting.length > 0 && share.underWay < maxUnderWay
    if (mayBegin) {
      share.underWay += 1
      void this.#run(name, share.waiting.splice(0, maxGroup)).finally(() => {
        share.underWay -= 1
        // Whoever came meanwhile goes at once, whatever the timer says.
        this.#begin(name, share)
        if (share.underWay === 0 && share.waiting.length === 0) this.#shares.delete(name)
      })
    }
    if (share.waiting.length > 0) this.#schedule(name, share)
  }

  async #run(share: string, group: readonly Waiting[]): Promise<void> {
    const { takeAlone, takeTogether, isOutage } = this.#options
    try {
      const posts = group.map(({ post }) => post)
      const outcomes = await takeTogether(posts, share)
      for (const [index, { post, resolve }] of group.entries()) {
        const outcome = outcomes[index]
        // A refusal is made again alone: who may not even come in by now is told so first.
        resolve(!outcome || outcome instanceof GraphError ? takeAlone(post) : outcome)
      }
    } catch (error) {
      const isOutageOfAll = isOutage(error)
      for (const { post, resolve, reject } of group) {
        if (isOutageOfAll) reject(error)
        else resolve(takeAlone(post))
      }
    }
  }
}
