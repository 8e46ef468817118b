import type { IncomingHttpHeaders } from 'node:http'
import { cutTrailingSlashes } from '../../base/text/slashes.ts'
import type { Row } from '../../graph/operation.ts'
import { versionPattern } from '../../graph/versions.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { shapeOf } from '../route-table.ts'

interface Visit {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
}

/** Whether a browser looks for a page that there is not: it gets a page that says so, where programs get the envelope. */
export type IsUnknownPage = (visit: Visit) => boolean

/** What matches no row, so that the router finds nothing either: it takes `/wrong/address` for a version and an id otherwise. */
export const unknownPageUrl = '/-'

/** Paths of the API are left alone, whoever asks: they begin with a version, or with a segment of another door than that of pages. */
export function makeIsUnknownPage(operations: readonly Row[], vocabulary: Vocabulary): IsUnknownPage {
  const pages = operations.filter(isPage).map((row) => shapeOf(row).split('/').slice(1))
  const apiSegments = new Set(operations.filter((row) => !isPage(row)).map((row) => row.path.split('/')[1]))
  const isApi = (first: string) =>
    apiSegments.has(first) ||
    versionPattern.test(first) ||
    // There an id may come first.
    (vocabulary.habits.version_optional && /^\d+$/.test(first))
  return ({ method, url = '/', headers }) => {
    if (!headers.accept?.includes('text/html') || (method !== 'GET' && method !== 'HEAD')) return false
    const segments = (cutTrailingSlashes(url.split('?', 1)[0] ?? '') || '/').split('/').slice(1)
    if (isApi(segments[0] ?? '')) return false
    return !pages.some(
      (page) => page.length === segments.length && page.every((one, index) => one === '{}' || one === segments[index]),
    )
  }
}

function isPage(row: Row): boolean {
  return row.door === 'open' && 'content' in row && 'text/html' in row.content
}
