import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, transform } from 'esbuild'
import type { Project } from './harness-pack.ts'

/** What pages and workers import: the files of the package as they are, or what a bundler finds. */
const plain = `
  import * as sdk from '/node_modules/@switchboard/client/dist/index.js'
  import { tryClient, trySend } from '/scenario.js'
`
const bundled = `
  import * as sdk from '@switchboard/client'
  import { tryClient } from './scenario.js'
  globalThis.tryHere = (given) => tryClient(sdk, given)
`
/** A module of its own: a worker has no page. */
const worker = `${plain}
  onmessage = ({ data }) => tryClient(sdk, data).then(
    (seen) => postMessage({ seen }),
    (error) => postMessage({ failure: String(error?.stack) }),
  )
`
const page = (script: string) => `<!doctype html><meta charset="utf-8"><title>App</title>${script}`
const module = (text: string) => `<script type="module">${text}</script>`

/** The pages of an app that uses the package: as its files are, in a bundle, and in a worker. */
export async function writePages(project: Project): Promise<Record<string, string>> {
  const source = await readFile(join(import.meta.dirname, 'scenario.ts'), 'utf8')
  const scenario = (await transform(source, { loader: 'ts', format: 'esm' })).code
  await project.write('scenario.js', scenario)
  await project.write(
    'thread.js',
    `import { parentPort, workerData } from 'node:worker_threads'
     import * as sdk from '@switchboard/client'
     import { tryClient } from './scenario.js'
     parentPort.postMessage(await tryClient(sdk, workerData))`,
  )
  const { outputFiles } = await build({
    stdin: { contents: bundled, resolveDir: project.folder },
    ...{ bundle: true, minify: true, write: false, format: 'iife', platform: 'browser', target: 'es2022' },
  })
  return {
    '/plain.html': page(
      module(`${plain}
        globalThis.tryHere = (given) => tryClient(sdk, given)
        globalThis.sendHere = (given) => trySend(sdk, given)`),
    ),
    '/bundled.html': page('<script src="/bundle.js"></script>'),
    '/bundle.js': outputFiles[0]?.text ?? '',
    '/worker.html': page(
      module(`
        const worker = new Worker('/worker.js', { type: 'module' })
        globalThis.tryHere = (given) => new Promise((resolve, reject) => {
          worker.onmessage = ({ data }) => 'seen' in data ? resolve(data.seen) : reject(new Error(data.failure))
          worker.onerror = ({ message }) => reject(new Error(message))
          worker.postMessage(given)
        })`),
    ),
    '/worker.js': worker,
  }
}

/** A post as the server signs it, by other code than the client's. */
export function signPost(secret: string) {
  const value = { messaging_product: 'msgapp', metadata: {}, messages: [] }
  const body = JSON.stringify({
    object: 'msgapp_business_account',
    entry: [{ id: '1000000000000001', changes: [{ field: 'messages', value }] }],
  })
  const time = Math.floor(Date.now() / 1000)
  const sign = (text: string) => createHmac('sha256', secret).update(text)
  return {
    body,
    secret,
    headers: {
      'x-hub-signature-256': `sha256=${sign(body).digest('hex')}`,
      'webhook-id': 'delivery_1',
      'webhook-timestamp': String(time),
      'webhook-signature': `v1,${sign(`delivery_1.${time}.${body}`).digest('base64')}`,
    },
  }
}
