/**
 * Loaded into each process of the server before its own code (`--import`): it ends with the process that started it, however that one
 * ended, and its folder goes with it. The pipe to standard input closes when the other end is gone, also after `kill -9`.
 */
import { rmSync } from 'node:fs'

const folder = process.env['SWITCHBOARD_TESTING_FOLDER']
if (folder) {
  // A store that is being prepared is what the others are copied from: it stays when its process is done.
  let isLeft = process.env['SWITCHBOARD_TESTING_STAYS'] === undefined
  const leave = () => {
    isLeft = true
    // A launcher ends when the server does that it started, which reads the same pipe.
    if (!process.getActiveResourcesInfo().includes('ProcessWrap')) process.exit(0)
  }
  process.stdin.on('end', leave)
  process.stdin.on('error', leave)
  process.stdin.resume()
  // A command ends when it is done.
  ;(process.stdin as unknown as { unref?(): void }).unref?.()
  process.on('exit', () => {
    if (isLeft) rmSync(folder, { recursive: true, force: true })
  })
}
