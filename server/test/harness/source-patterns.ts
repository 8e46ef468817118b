import { on } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import { readTokens, type Token } from './source-tokens.ts'

/** A pattern of the sources. */
export interface SourcePattern {
  readonly file: string
  /** The line and the column of one that is made of a text. */
  readonly place?: string
  readonly source: string
  readonly flags: string
}

export const sourceRoot = resolve(import.meta.dirname, '../../src')

/** The files that the service is made of, relative to their folder. */
export function listSources(): string[] {
  const files = readdirSync(sourceRoot, { recursive: true, encoding: 'utf8' })
  return files.filter((file) => /\.[jt]s$/.test(file) && !/\.(test|d)\.ts$/.test(file)).sort()
}

/** Every pattern that is written as /…/. */
export function listLiterals(): SourcePattern[] {
  return listSources().flatMap((file) =>
    readSource(file).flatMap((token) => {
      if (token.kind !== 'pattern') return []
      const end = token.text.lastIndexOf('/')
      return [{ file, source: token.text.slice(1, end), flags: token.text.slice(end + 1) }]
    }),
  )
}

/** How many places of each file make a pattern of a text. */
export function countMakers(): Map<string, number> {
  const counts = listSources().map((file) => {
    const names = readSource(file).map((token) => (token.kind === 'word' ? token.text : ''))
    return [file, names.filter((name, index) => name === 'RegExp' && names[index - 1] === 'new').length] as const
  })
  return new Map(counts.filter(([, count]) => count > 0))
}

/** Every pattern that is made of a text while the modules are loaded. */
export async function listMade(): Promise<SourcePattern[]> {
  const worker = new Worker(new URL('./made-patterns.ts', import.meta.url))
  for await (const [message] of on(worker, 'message', { close: ['exit'] }) as AsyncIterable<[object]>) {
    if ('made' in message) return message.made as SourcePattern[]
  }
  throw new Error('the modules were not loaded')
}

function readSource(file: string): Token[] {
  return readTokens(readFileSync(join(sourceRoot, file), 'utf8'))
}
