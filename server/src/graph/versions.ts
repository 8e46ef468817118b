import { notFound, unknownVersion } from './errors.ts'

export const versionPattern = /^v\d+\.\d+$/

/** Refuses a version that is malformed or not served; the name of a door is none, and what is not behind that door is unknown. */
export function checkVersion(version: string, served: readonly string[], doors: readonly string[]): void {
  if (!served.includes(version)) throw doors.includes(version) ? notFound() : unknownVersion(version, served)
}
