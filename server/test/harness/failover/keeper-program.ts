// Ends what a run has started, and removes its folder, when the run closes the pipe: however it ended.
import { globSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { findPostmaster, readProcess, signalTree } from './process-tree.ts'

const [folder = ''] = process.argv.slice(2)
const started = new Map<number, string | undefined>()
for await (const line of createInterface({ input: process.stdin })) {
  started.set(Number(line), readProcess(Number(line))?.started)
}
for (const [pid, time] of started) {
  if (time !== undefined && readProcess(pid)?.started === time) signalTree(pid, 'SIGKILL')
}
// PostgreSQL is no child of the Patroni that started it.
for (const file of globSync(join(folder, '*/data/postmaster.pid'))) {
  const pid = findPostmaster(dirname(file))
  if (pid !== undefined) signalTree(pid, 'SIGKILL')
}
await rm(folder, { recursive: true, force: true, maxRetries: 20 })
