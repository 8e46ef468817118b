import { begin, Call, readObject } from './call.ts'
import type { AnyClient as Client, Row } from './client.ts'
import { APIError, SwitchboardError } from './errors.ts'
import type { Params, RequestOptions } from './request.ts'

export interface Paging {
  readonly cursors: { readonly before?: string; readonly after?: string }
  readonly next?: string
  readonly previous?: string
}

interface WirePage<T> {
  readonly data: T[] | Readonly<Record<string, T[]>>
  readonly paging: Paging
}

/** One page of a list. `for await` gives its items and those of all pages behind it. */
export class Page<T> implements AsyncIterable<T> {
  readonly data: T[]
  readonly paging: Paging
  readonly #next: (after: string) => ListCall<T>

  constructor({ data, paging }: WirePage<T>, items: string | undefined, next: (after: string) => ListCall<T>) {
    this.data = (Array.isArray(data) ? data : data[items ?? '']) ?? []
    this.paging = paging
    this.#next = next
  }

  hasNextPage(): boolean {
    return this.paging?.next !== undefined && this.paging.cursors.after !== undefined
  }

  /** The page behind this one; throws where there is none. */
  getNextPage(): ListCall<T> {
    const after = this.paging?.cursors.after
    if (!this.hasNextPage() || after === undefined) {
      throw new SwitchboardError('this is the last page: ask hasNextPage() before getNextPage()')
    }
    return this.#next(after)
  }

  /** This page and those behind it. */
  async *iterPages(): AsyncGenerator<Page<T>, void, undefined> {
    let page: Page<T> = this
    yield page
    while (page.hasNextPage()) {
      page = await page.getNextPage()
      yield page
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.iterPages()) yield* page.data
  }
}

/** A list under way: `await` gives its first page, `for await` every item of every page. */
export class ListCall<T> extends Call<Page<T>> implements AsyncIterable<T> {
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    yield* await this
  }

  /** Page by page. */
  async *iterPages(): AsyncGenerator<Page<T>, void, undefined> {
    yield* (await this).iterPages()
  }

  /** All items, or so many of them. */
  async toArray(limit = Number.POSITIVE_INFINITY): Promise<T[]> {
    const items: T[] = []
    for await (const page of this.iterPages()) {
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
      const page = await readObject<WirePage<T>>(response)
      if (!page?.data) throw new APIError(response.status, page, response.headers)
      return new Page(page, row.items, next)
    }),
  )
}
