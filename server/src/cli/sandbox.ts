import { readFile } from 'node:fs/promises'
import { processEnvironment } from '../base/environment.ts'
import { CommandFailed } from './fail.ts'
import { askGateway, openGateway } from './gateway-client.ts'

/** Its token in worlds/demo.yaml. */
const demoOperatorToken = 'demo-operator-token'

export interface SandboxFlags {
  readonly url?: string
  readonly token?: string
}

/** Asks the operator door of a running server, and prints its response: only servers can do what falls due. */
async function ask(
  flags: SandboxFlags,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
): Promise<void> {
  const environment = processEnvironment()
  const url = flags.url ?? (environment['SWITCHBOARD_URL'] || undefined)
  const token = flags.token ?? (environment['SWITCHBOARD_TOKEN'] || demoOperatorToken)
  const { answer } = await askGateway(openGateway({ ...(url !== undefined && { url }), token }), method, path, body)
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}

export function listSnapshots(flags: SandboxFlags): Promise<void> {
  return ask(flags, 'GET', '/operator/snapshots')
}

export function saveSnapshot(name: string, flags: SandboxFlags): Promise<void> {
  return ask(flags, 'POST', '/operator/snapshots', { name })
}

export function restoreSnapshot(name: string, flags: SandboxFlags): Promise<void> {
  return ask(flags, 'POST', `/operator/snapshots/${encodeURIComponent(name)}/restore`)
}

export function deleteSnapshot(name: string, flags: SandboxFlags): Promise<void> {
  return ask(flags, 'DELETE', `/operator/snapshots/${encodeURIComponent(name)}`)
}

export interface ClockFlags extends SandboxFlags {
  readonly advance?: string
  readonly set?: string
  readonly real?: boolean
}

/** Moves the clock, or without a wish reads it. */
export function moveClock({ advance, set, real, ...flags }: ClockFlags): Promise<void> {
  const wish = { ...(advance !== undefined && { advance }), ...(set !== undefined && { set }), ...(real && { real }) }
  if (Object.keys(wish).length === 0) return ask(flags, 'GET', '/operator/clock')
  return ask(flags, 'POST', '/operator/clock', wish)
}

export async function reset(flags: SandboxFlags & { readonly world?: string }): Promise<void> {
  const world = flags.world === undefined ? {} : { world: await readText(flags.world) }
  return ask(flags, 'POST', '/operator/reset', world)
}

export function listFaults(flags: SandboxFlags): Promise<void> {
  return ask(flags, 'GET', '/operator/faults')
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
  return ask(flags, 'PUT', '/operator/faults', { rules })
}

export function clearFaults(flags: SandboxFlags): Promise<void> {
  return ask(flags, 'PUT', '/operator/faults', { rules: [] })
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new CommandFailed(`${file} cannot be read (${(error as Error).message}): name a file that can be`)
  }
}
