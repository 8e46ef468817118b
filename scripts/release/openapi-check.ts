// Breaking differences of the API have to be named in the changelog, so that nobody finds them out by a failure.
import type { Release } from './changelog.ts'
import { compareDocuments, type OpenApiChange, type OpenApiDocument } from './openapi-differences.ts'

/** Their names in openapi/. */
export const documentNames = ['switchboard', 'operator', 'gateway'] as const

export type Documents = Readonly<Partial<Record<string, OpenApiDocument>>>

/** A whole document that is gone is all of its operations. */
export function compareAll(before: Documents, after: Documents): OpenApiChange[] {
  const none: OpenApiDocument = { paths: {} }
  return documentNames.flatMap((name) => compareDocuments(before[name] ?? none, after[name] ?? none))
}

/** The breaking changes that no entry under Server, Breaking names, by operation (`messages.send`) or by address (`POST /gateway/messages`). */
export function findUnnamed(changes: readonly OpenApiChange[], release: Release | undefined): OpenApiChange[] {
  const entries = release?.entries.filter(({ part, kind }) => part === 'Server' && kind === 'Breaking') ?? []
  const named = new Set(entries.flatMap(({ text }) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code)))
  return changes.filter(({ breaking, operation, address }) => breaking && !named.has(operation) && !named.has(address))
}

/** A page for people: breaking ones first. */
export function writeDifferences(changes: readonly OpenApiChange[], since: string): string {
  const list = (breaking: boolean) => {
    const lines = changes
      .filter((change) => change.breaking === breaking)
      .map(({ operation, address, text }) => `- \`${operation}\` (\`${address}\`): ${text}`)
    return lines.length > 0 ? lines.join('\n') : 'None.'
  }
  return `# The API since ${since}\n\n## Breaking\n\n${list(true)}\n\n## Other\n\n${list(false)}\n`
}
