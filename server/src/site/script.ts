import { readFileSync } from 'node:fs'

/** The scripts of a page as one, to stand in it: what runs in a browser is kept in files of its own. */
export function readScripts(...names: readonly string[]): string {
  return names.map((name) => readFileSync(new URL(`./browser/${name}.js`, import.meta.url), 'utf8')).join('\n')
}
