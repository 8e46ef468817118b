import { begin, Call, type RequestOptions, readObject } from './call.ts'
import type { Client, Row } from './client.ts'
import type { Params } from './request.ts'

export interface Paging {
  readonly cursors: { readonly before?: string; readonly after?: string }
  readonly next?: string
  readonly previous?: string
}

interface WirePage<T> {
  readonly data: T[] | Readonly<Record<string, T[]>>
  readonly paging: Paging
}

/** One page of a list. */
export class Page<T> {
  readonly data: T[]
  readonly paging: Paging
  readonly #next: (after: string) => ListCall<T>

  constructor({ data, paging }: WirePage<T>, items: string | undefined, next: (after: string) => ListCall<T>) {
    this.data = (Array.isArray(data) ? data : data[items ?? '']) ?? []
    this.paging = paging
    this.#next = next
  }

  get hasNext(): boolean {
    return this.paging?.next !== undefined && this.paging.cursors.after !== undefined
  }

  /** The page behind this one. */
  next(): ListCall<T> {
    const after = this.paging?.cursors.after
    if (!this.hasNext || after === undefined) throw new RangeError('this is the last page')
    return this.#next(after)
  }
}

/** A list under way: `await` gives its first page, `for await` every item of every page. */
export class ListCall<T> extends Call<Page<T>> implements AsyncIterable<T> {
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data
  }

  /** Page by page. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let page: Page<T> = await this
    yield page
    while (page.hasNext) {
      page = await page.next()
      yield page
    }
  }

  /** All items, or so many of them. */
  async toArray(limit = Number.POSITIVE_INFINITY): Promise<T[]> {
    const items: T[] = []
    for await (const page of this.pages()) {
      items.push(...page.data)
      if (items.length >= limit) break
    }
    return items.slice(0, limit)
  }
}

/** Calls a row that answers with a list. */
export function listRow<T>(
  client: Client,
  row: Row,
  args: readonly string[],
  params?: Params,
  options?: RequestOptions,
): ListCall<T> {
  const next = (after: string) => listRow<T>(client, row, args, { ...params, before: undefined, after }, options)
  return new ListCall(
    begin(client, row, args, params, options, undefined, async (response) => {
      return new Page(await readObject<WirePage<T>>(response), row.items, next)
    }),
  )
}
