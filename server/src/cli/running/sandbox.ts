import { readFile } from 'node:fs/promises'
import type { SandboxFaultsReplaceParams, Switchboard } from '@switchboard/client'
import { CommandFailed } from '../fail.ts'
import { ask, type RemoteFlags, requireRemote } from '../remote.ts'

export interface SandboxFlags extends RemoteFlags {
  readonly token?: string
}

type Sandbox = Switchboard['sandbox']

/** Asks a running server, and prints its response: only servers can do what falls due. */
async function askSandbox(flags: SandboxFlags, call: (sandbox: Sandbox) => Promise<object>): Promise<void> {
  const response = await ask(requireRemote(flags), ({ sandbox }) => call(sandbox))
  process.stdout.write(`${JSON.stringify(response)}\n`)
}

export function listSnapshots(flags: SandboxFlags): Promise<void> {
  return askSandbox(flags, (sandbox) => sandbox.snapshots.list())
}

export function saveSnapshot(name: string, flags: SandboxFlags): Promise<void> {
  return askSandbox(flags, (sandbox) => sandbox.snapshots.create({ name }))
}

export function restoreSnapshot(name: string, flags: SandboxFlags): Promise<void> {
  return askSandbox(flags, (sandbox) => sandbox.snapshots.restore(name))
}

export function deleteSnapshot(name: string, flags: SandboxFlags): Promise<void> {
  return askSandbox(flags, (sandbox) => sandbox.snapshots.delete(name))
}

export interface ClockFlags extends SandboxFlags {
  readonly advance?: string
  readonly set?: string
  readonly real?: boolean
}

/** Moves the clock, or without a wish reads it. */
export function moveClock({ advance, set, real, ...flags }: ClockFlags): Promise<void> {
  const wish = { ...(advance !== undefined && { advance }), ...(set !== undefined && { set }), ...(real && { real }) }
  if (Object.keys(wish).length === 0) return askSandbox(flags, (sandbox) => sandbox.clock.retrieve())
  return askSandbox(flags, (sandbox) => sandbox.clock.move(wish))
}

export async function reset(flags: SandboxFlags & { readonly world?: string }): Promise<void> {
  const world = flags.world === undefined ? {} : { world: await readText(flags.world) }
  return askSandbox(flags, (sandbox) => sandbox.reset(world))
}

export function listFaults(flags: SandboxFlags): Promise<void> {
  return askSandbox(flags, (sandbox) => sandbox.faults.list())
}

/** `file` holds a list of rules, or an object with `rules`. */
export async function setFaults(file: string, flags: SandboxFlags): Promise<void> {
  const text = await readText(file)
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch (error) {
    throw new CommandFailed(
      `${file} is not JSON (${(error as Error).message}): write a list of rules, as in docs/interface.md`,
    )
  }
  const rules = Array.isArray(given) ? given : (given as { rules?: unknown } | null)?.rules
  // The server says what is wrong with them.
  return askSandbox(flags, (sandbox) => sandbox.faults.replace({ rules } as SandboxFaultsReplaceParams))
}

export function clearFaults(flags: SandboxFlags): Promise<void> {
  return askSandbox(flags, (sandbox) => sandbox.faults.replace({ rules: [] }))
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new CommandFailed(`${file} cannot be read (${(error as Error).message}): name a file that can be`)
  }
}
