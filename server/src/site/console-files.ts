import { readFileSync, statSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Reply } from '../graph/reply.ts'
import { chooseEncoding, type Encoding } from '../replies/packed.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const builds = join(root, 'node_modules', '.console')
const endings: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz', identity: '' }

/** What scripts/console.mjs built: the newest folder, what is in it, and what it was made of. */
export interface ConsoleBuild {
  readonly folder: string
  readonly script: string
  readonly style: string
  readonly sources: readonly (readonly [path: string, size: number, mtimeMs: number])[]
}

export function findBuild(): ConsoleBuild | undefined {
  try {
    return JSON.parse(readFileSync(join(builds, 'current.json'), 'utf8')) as ConsoleBuild
  } catch {
    return undefined
  }
}

/** Whether no source has changed since. Images of containers keep whole seconds. */
export function isFresh({ sources }: ConsoleBuild): boolean {
  return sources.every(([path, size, mtimeMs]) => {
    const found = statSync(join(root, path), { throwIfNoEntry: false })
    return found?.size === size && (found.mtimeMs === mtimeMs || found.mtimeMs === Math.floor(mtimeMs / 1000) * 1000)
  })
}

/** Builds it anew; throws with what stands in the way. */
export async function build(): Promise<void> {
  const { buildConsole } = await import(pathToFileURL(join(root, 'scripts', 'console.mjs')).href)
  await buildConsole()
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** A file of this build or of one before, in the encoding that a request accepts. Its name changes with its content. */
export function readBuiltFile({ folder }: ConsoleBuild, name: string, headers: IncomingHttpHeaders): Reply | undefined {
  const type = types[/^[\w-]+\.(js|css)$/.exec(name)?.[1] ?? '']
  if (type === undefined) return undefined
  const encoding = chooseEncoding(headers['accept-encoding'])
  try {
    const body = readFileSync(join(builds, folder, `${name}${endings[encoding]}`))
    return new Reply(
      {
        'content-type': type,
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        vary: 'accept-encoding',
        ...(encoding !== 'identity' && { 'content-encoding': encoding }),
      },
      body,
    )
  } catch {
    return undefined
  }
}
