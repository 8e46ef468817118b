import { unknownVersion } from './errors.ts'

export const versionPattern = /^v\d+\.\d+$/

/** Refuses a version that is malformed or not served. */
export function checkVersion(version: string, served: readonly string[]): void {
  if (!served.includes(version)) throw unknownVersion(version, served)
}
