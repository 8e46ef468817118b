import { cutTrailingSlashes } from '../../base/text/slashes.ts'
import type { Clock } from '../../base/time/clock.ts'
import { second } from '../../base/time/duration.ts'
import { WindowCounts } from '../../base/time/window-counts.ts'
import type { GraphError } from '../../graph/graph-error.ts'
import type { Row } from '../../graph/operation.ts'
import type { ServedVersions } from '../../graph/versions.ts'
import { type Vocabulary, vocabularyNames } from '../../graph/vocabulary.ts'
import {
  methodUnknown,
  pathMisspelt,
  pathOfAnotherVocabulary,
  pathUnknown,
  unknownVersion,
  versionNotListed,
} from '../errors.ts'
import { segmentsOf, shapeOf, versionOf } from '../route-table.ts'

export interface UnknownPathsOptions {
  readonly operations: readonly Row[]
  readonly vocabulary: Vocabulary
  readonly versions: ServedVersions
  readonly clock: Clock
}

interface KnownRoute {
  readonly method: string
  readonly segments: readonly string[]
  /** In the notation of the specification. */
  readonly path: string
}

/** How many edits may separate a word from a known one to count as a typo. */
const maxDistance = 3
const maxCompared = 60
/** A path is compared with all that there are: so many in a second, for everybody together. The others are refused without a guess. */
const maxGuesses = 100

/** Explains a path that matches no row. */
export type ExplainPath = (method: string, url: string) => GraphError

/** Makes the function that explains unknown paths by the nearest known path, or by the versions served. */
export function makeExplainPath(options: UnknownPathsOptions): ExplainPath {
  const { vocabulary } = options
  const { all: versions, newest, told: starts } = options.versions
  const doors = segmentsOf(options.operations)
  const routes = options.operations.flatMap((row) => {
    const shape = shapeOf(row)
    const known = (segments: string, path: string) => ({
      method: row.method,
      segments: segments.split('/').slice(1),
      path,
    })
    // The newest version stands for all that are served.
    switch (versionOf(row)) {
      case 'required':
        return [known(shape.replace(/^\/\{\}/, `/${newest}`), row.path)]
      case 'optional':
        return [known(shape, row.path), known(`/${newest}${shape}`, `/{Version}${row.path}`)]
      default:
        return [known(shape, row.path)]
    }
  })
  const guesses = new WindowCounts(options.clock, second)
  const mayGuess = () => guesses.add('', 1) <= maxGuesses
  return (method, url) => {
    const path = url.split('?', 1)[0] ?? ''
    const segments = (cutTrailingSlashes(path) || '/').split('/').slice(1)
    const [first = '', second] = segments
    const version = decodeURIComponent(first)
    if (second !== undefined && !doors.includes(first) && !versions.includes(version)) {
      const given = JSON.stringify(version.slice(0, 40))
      const explain = vocabulary.habits.every_version ? versionNotListed : unknownVersion
      return explain({ version: given, starts })
    }
    return describeNearest(routes, method, versions.includes(version) ? [newest, ...segments.slice(1)] : segments, {
      ...options,
      mayGuess,
    })
  }
}

/** What to do instead, from certain to guessed. None of it depends on the contents of the store. */
function describeNearest(
  routes: readonly KnownRoute[],
  method: string,
  segments: readonly string[],
  { vocabulary, versions, mayGuess }: UnknownPathsOptions & { readonly mayGuess: () => boolean },
): GraphError {
  const here = routes.filter((route) => fits(route, segments))
  if (here.length > 0) {
    const methods = [...new Set(here.map((route) => route.method))].sort().join(' or ')
    return methodUnknown({ method, methods })
  }
  const translated = translate(segments, vocabulary)
  if (translated && routes.some((route) => fits(route, translated.segments))) {
    return pathOfAnotherVocabulary({ method, name: vocabulary.product, other: translated.other })
  }
  // Of rows that are equally near, the first wins: one that has the method of the request.
  const byMethod = [...routes.filter((route) => route.method === method), ...routes]
  const nearest = mayGuess() ? findNearest(byMethod, segments) : undefined
  if (nearest) return pathMisspelt({ method, nearest: `${nearest.method} ${nearest.path}` })
  return pathUnknown({ method, version: versions.newest })
}

function fits({ segments }: KnownRoute, path: readonly string[]): boolean {
  return segments.length === path.length && segments.every((one, index) => one === '{}' || one === path[index])
}

/** The same path in this vocabulary, if it was written in another. */
function translate(segments: readonly string[], vocabulary: Vocabulary) {
  const other = vocabularyNames.find((name) => name !== vocabulary.name)
  if (other === undefined || !segments.some((segment) => segment.includes(other))) return undefined
  return { segments: segments.map((segment) => segment.replace(other, vocabulary.name)), other }
}

/** The row of the same length whose fixed words differ by few letters from the path. */
function findNearest(routes: readonly KnownRoute[], path: readonly string[]): KnownRoute | undefined {
  let best: { readonly route: KnownRoute; readonly distance: number } | undefined
  for (const route of routes) {
    if (route.segments.length !== path.length || route.segments.every((one) => one === '{}')) continue
    let distance = 0
    for (const [index, known] of route.segments.entries()) {
      if (known !== '{}') distance += measureDistance(known, path[index] as string)
      if (distance > maxDistance) break
    }
    if (distance <= maxDistance && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { route, distance }
  }
  return best?.route
}

/** The number of edits between two words (Levenshtein); words that are too long never count as near. */
function measureDistance(known: string, given: string): number {
  if (known === given) return 0
  if (given.length > maxCompared || Math.abs(known.length - given.length) > maxDistance) return maxDistance + 1
  let row = Array.from({ length: given.length + 1 }, (_, index) => index)
  for (let i = 1; i <= known.length; i++) {
    const next = [i]
    for (let j = 1; j <= given.length; j++) {
      const same = known[i - 1] === given[j - 1] ? 0 : 1
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, (row[j - 1] as number) + same))
    }
    row = next
  }
  return row.at(-1) as number
}
