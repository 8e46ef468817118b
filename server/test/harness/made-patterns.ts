// Loads every module of the service in a thread of its own, and reports the patterns that they make of texts. See source-patterns.ts.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parentPort } from 'node:worker_threads'
import { listSources, type SourcePattern, sourceRoot } from './source-patterns.ts'

const made: SourcePattern[] = []
const PlainRegExp = RegExp

globalThis.RegExp = new Proxy(PlainRegExp, {
  construct(target, [source, flags], newTarget) {
    const caller = new Error('who asks').stack?.split('\n')[2] ?? ''
    const [, file, place] = /\/server\/src\/([\w/.-]+):(\d+:\d+)/.exec(caller) ?? []
    const pattern = Reflect.construct(target, [source, flags], newTarget) as RegExp
    if (file !== undefined && place !== undefined)
      made.push({ file, place, source: pattern.source, flags: pattern.flags })
    return pattern
  },
})

// The main module would start the command. A module of a thread sends its own message first.
for (const file of listSources().filter((name) => name.endsWith('.ts'))) {
  await import(pathToFileURL(join(sourceRoot, file)).href)
}
parentPort?.postMessage({ made })
