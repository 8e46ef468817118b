/**
 * Loaded into the server before its own code (`--import`): the server ends with the process that started it, however that one ended,
 * and its folder goes with it. The pipe to standard input closes when the other end is gone, also after `kill -9`.
 */
import { rmSync } from 'node:fs'

const folder = process.env['SWITCHBOARD_TESTING_FOLDER']
if (folder) {
  process.stdin.on('end', () => process.exit(0))
  process.stdin.on('error', () => process.exit(0))
  process.stdin.resume()
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
}
