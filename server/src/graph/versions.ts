/** The form of a version in a path. */
export const versionPattern = /^v\d+\.\d+$/
