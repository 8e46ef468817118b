/**
 * Where files are that the server reads and that are no modules of it: here as they are in a clone. The package of the server has them
 * elsewhere, and `package-places.ts` in the place of this file.
 */
export interface Places {
  /** The folder with the world of the demo. */
  readonly worlds: URL
  /** Scripts and styles that the pages of the server and the console share. */
  readonly sharedWithConsole: URL
  /** The folder with the builds of the console. */
  readonly consoleBuilds: URL
  /** What builds the console when a source has changed, and the folder that its sources are named from; a package has it built. */
  readonly consoleSources: { readonly builder: URL; readonly root: URL } | undefined
  /** The thread that reads long world files. */
  readonly worldReader: URL
}

const root = new URL('../../', import.meta.url)

export const places: Places = {
  worlds: new URL('worlds/', root),
  sharedWithConsole: new URL('console/shared/', root),
  consoleBuilds: new URL('node_modules/.console/', root),
  consoleSources: { builder: new URL('scripts/console.mjs', root), root },
  worldReader: new URL('./world/read-worker.ts', import.meta.url),
}
