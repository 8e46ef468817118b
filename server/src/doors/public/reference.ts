import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Packed } from '../../http/packed.ts'

const program = fileURLToPath(new URL('./reference-process.ts', import.meta.url))

/** The script of the API reference page, packed. */
export function loadReference(): Promise<Packed> {
  return new Promise((resolve, reject) => {
    const child = fork(program, { serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    child.once('message', (packed) => resolve(packed as Packed))
    child.once('error', reject)
    child.once('exit', (code) =>
      reject(new Error(`the script of the docs page could not be packed: exit code ${code}`)),
    )
  })
}
