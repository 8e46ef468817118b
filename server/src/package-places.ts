import type { Places } from './places.ts'

/** Where the package of the server has its files: beside the packed modules (scripts/packages/server.mjs puts them there). */
export const places: Places = {
  worlds: new URL('./worlds/', import.meta.url),
  sharedWithConsole: new URL('./console/shared/', import.meta.url),
  consoleBuilds: new URL('./console/builds/', import.meta.url),
  consoleSources: undefined,
  worldReader: new URL('./read-worker.js', import.meta.url),
}
