/** The form of a version in a path. */
export const versionPattern = /^v\d+\.\d+$/

/** The versions in paths that are served. All are served alike. */
export interface ServedVersions {
  /** Oldest first. */
  readonly all: readonly string[]
  /** The one in docs and examples, and what a path without a version means. */
  readonly newest: string
  /** How they are told: `/v23.0/ or /v24.0/`. */
  readonly told: string
}

/** The version of the specification. */
const specified = 'v23.0'

/** What client libraries ask for: most name the version that was the newest when they were released. */
const everyVersion = { first: 13, last: 30 }

/** The versions that the operator lists, else the specification's, or every version that a client library may ask for. */
export function serveVersions(listed: readonly string[] | undefined, isEvery: boolean): ServedVersions {
  if (!isEvery || listed) {
    const all = listed ?? [specified]
    return { all, newest: all.at(-1) ?? specified, told: all.map((version) => `/${version}/`).join(' or ') }
  }
  const { first, last } = everyVersion
  const all = Array.from({ length: last - first + 1 }, (_, index) => `v${first + index}.0`)
  return { all, newest: specified, told: `one from /v${first}.0/ to /v${last}.0/` }
}

/** `v23.0, v24.0`, or the first and the last of many. */
export function describeVersions(versions: readonly string[]): string {
  return versions.length > 3 ? `${versions[0]} to ${versions.at(-1)}` : versions.join(', ')
}
