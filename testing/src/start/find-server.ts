import { existsSync } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** How the server is started: a program, or a program and its first arguments. A file of JavaScript is run by this Node. */
export type ServerCommand = string | readonly [string, ...string[]]

export type Program = readonly [string, ...string[]]

export interface FoundServer {
  readonly command: Program
  /** What tells its stores from those of another server at the same place: its version, or its demo world. */
  readonly edition: string
}

/** The server: what was given, `SWITCHBOARD_COMMAND`, or the installed package `@switchboard/server`. Within a clone that is the clone. */
export async function findServer(given: ServerCommand | undefined): Promise<FoundServer> {
  const named = given ?? process.env['SWITCHBOARD_COMMAND']
  if (named) return readCommand(typeof named === 'string' ? [named] : named)
  for (const place of [import.meta.url, pathToFileURL(join(process.cwd(), 'package.json')).href]) {
    const found = await readPackage(place)
    if (found) return found
  }
  throw new Error(
    [
      'no Switchboard server was found. Install it beside the testing library:',
      '  npm i -D @switchboard/server',
      'Or name the command of a server that is elsewhere, as the option `command` or in SWITCHBOARD_COMMAND; or give the address of a server that runs as the option `url`.',
    ].join('\n'),
  )
}

async function readCommand(named: Program): Promise<FoundServer> {
  const [program] = named
  const command: Program = /\.[cm]?js$/.test(program) ? [process.execPath, ...named] : named
  const folder = dirname(await realpath(program).catch(() => program))
  return { command, edition: await readDemo(folder) }
}

/** The server that a file at that place would import. */
async function readPackage(place: string): Promise<FoundServer | undefined> {
  const manifest = resolvePackage(place)
  if (manifest === undefined) return undefined
  const folder = dirname(await realpath(manifest))
  // The workspace of a clone: its server runs from sources.
  if (existsSync(join(folder, 'src', 'main.js'))) return readCommand([join(dirname(folder), 'switchboard')])
  const { version = '', bin = {} } = JSON.parse(await readFile(manifest, 'utf8')) as {
    version?: string
    bin?: { switchboard?: string }
  }
  return { command: [process.execPath, join(folder, bin.switchboard ?? 'bin/switchboard.mjs')], edition: version }
}

function resolvePackage(place: string): string | undefined {
  try {
    return createRequire(place).resolve('@switchboard/server/package.json')
  } catch {
    return undefined
  }
}

/** The demo world of a clone: with another one another store is prepared. */
async function readDemo(clone: string): Promise<string> {
  return readFile(join(clone, 'worlds', 'demo.yaml'), 'utf8').catch(() => '')
}
