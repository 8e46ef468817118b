import { readFileSync } from 'node:fs'
import { places } from '../places.ts'

/**
 * The scripts of a page, joined to be inlined: browser code is kept in files of its own, which import each other where the console packs
 * them, and stand in one text here.
 */
export function readScripts(...names: readonly string[]): string {
  return names
    .map((name) =>
      readBrowserFile(`${name}.js`)
        .replaceAll(/^import .*\n/gm, '')
        .replaceAll(/^export /gm, ''),
    )
    .join('\n')
}

export function readBrowserFile(name: string): string {
  return readFileSync(new URL(name, places.sharedWithConsole), 'utf8')
}
