import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Reply } from '../graph/reply.ts'
import { places } from '../places.ts'
import { chooseEncoding, type Encoding } from '../replies/packed.ts'

const builds = fileURLToPath(places.consoleBuilds)
const endings: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz', identity: '' }

/** What scripts/console.mjs built: the newest folder, what is in it, and what it was made of. */
export interface ConsoleBuild {
  readonly folder: string
  readonly script: string
  readonly parts: readonly string[]
  readonly style: string
  readonly worker: string
  readonly sources: readonly (readonly [path: string, size: number, mtimeMs: number])[]
}

export function findBuild(): ConsoleBuild | undefined {
  try {
    return JSON.parse(readFileSync(join(builds, 'current.json'), 'utf8')) as ConsoleBuild
  } catch {
    return undefined
  }
}

/** Whether no source has changed since, or there are none that could. Images of containers keep whole seconds. */
export function isFresh({ sources }: ConsoleBuild): boolean {
  if (!places.consoleSources) return true
  const root = fileURLToPath(places.consoleSources.root)
  return sources.every(([path, size, mtimeMs]) => {
    const found = statSync(join(root, path), { throwIfNoEntry: false })
    return found?.size === size && (found.mtimeMs === mtimeMs || found.mtimeMs === Math.floor(mtimeMs / 1000) * 1000)
  })
}

/** Builds it anew; throws with what stands in the way. */
export async function build(): Promise<void> {
  if (!places.consoleSources) throw new Error(`the package lacks its console, which belongs in ${builds}`)
  const { buildConsole } = await import(places.consoleSources.builder.href)
  await buildConsole()
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/**
 * A file in the encoding that a request accepts: of this build, or of one before, which a page that was opened earlier still asks
 * for. Its name changes with its content; `main.js` and `main.css` are the newest.
 */
export function readBuiltFile(
  { folder, script, style }: ConsoleBuild,
  asked: string,
  headers: IncomingHttpHeaders,
): Reply | undefined {
  const name = { 'main.js': script, 'main.css': style }[asked] ?? asked
  const type = types[/^[\w-]+\.(js|css)$/.exec(name)?.[1] ?? '']
  if (type === undefined) return undefined
  const encoding = chooseEncoding(headers['accept-encoding'])
  const others = readdirSync(builds).filter((one) => one !== folder && !one.startsWith('current'))
  for (const one of [folder, ...others]) {
    const path = join(builds, one, `${name}${endings[encoding]}`)
    if (!existsSync(path)) continue
    const lifetime = name === asked ? 'public, max-age=31536000, immutable' : 'no-cache'
    return new Reply(
      {
        'content-type': type,
        'cache-control': lifetime,
        'x-content-type-options': 'nosniff',
        // A worker has the policy of its own response.
        'content-security-policy': "default-src 'none'; connect-src 'self'",
        vary: 'accept-encoding',
        ...(encoding !== 'identity' && { 'content-encoding': encoding }),
      },
      readFileSync(path),
    )
  }
  return undefined
}
