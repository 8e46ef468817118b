import { readFileSync } from 'node:fs'

/** The scripts of a page, joined to be inlined: browser code is kept in files of its own. */
export function readScripts(...names: readonly string[]): string {
  return names.map((name) => readFileSync(new URL(`./browser/${name}.js`, import.meta.url), 'utf8')).join('\n')
}
