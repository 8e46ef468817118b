import { readFile } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CORE_SCHEMA, load, YAMLException } from 'js-yaml'
import { Compile } from 'typebox/schema'
import { findProblems, findUnstorableText } from '../graph/input/validation.ts'
import { Problems, WorldRefused } from '../world-part/problems.ts'
import type { World, WorldContent } from './list.ts'
import { worldSchema } from './parts.ts'

export { WorldRefused }

/** Reads a world file, YAML or JSON, and refuses a malformed one; references are checked when it is applied. */
export async function readWorldFile(file: string | URL): Promise<World> {
  const name = file instanceof URL ? fileURLToPath(file) : file
  let bytes: Buffer
  try {
    bytes = await readFile(file)
  } catch (error) {
    throw refuse(name, '', `it cannot be read (${(error as Error).message}); name a file that can be.`)
  }
  return readWorld(decode(bytes, name), name)
}

/** The same for a text in memory; `name` is its name in problems. */
export function readWorld(text: string, name: string, most: number = maxValues): World {
  return checkWorld(parse(text, name), name, Math.min(most, mostValuesOf(text)))
}

/** The same for a world that came through a door, as text or parsed already; requests have their turn between the steps. */
export async function readGivenWorld(given: string | object): Promise<World> {
  const isText = typeof given === 'string'
  const content = isText ? parse(given, '') : given
  await nextTurn()
  return checkWorld(content, '', isText ? mostValuesOf(given) : maxValues)
}

/** The same for what was parsed already. */
function checkWorld(content: unknown, name: string, most: number = maxValues): World {
  if (hasTooMuch(content, most))
    throw refuse(name, '', `it holds more than ${most} values, aliases resolved; split it.`)
  if (!Compile(worldSchema).Check(content)) {
    const problems = new Problems()
    problems.addAll('', findProblems(worldSchema, content))
    problems.refuseIfAny(name)
    throw new Error('the validator refused a world file without saying why')
  }
  const unstorable = findUnstorableText(content, '')
  if (unstorable) throw refuse(name, unstorable.place, unstorable.problem)
  return { name, content: content as WorldContent }
}

const maxValues = 5_000_000
/** Aliases of YAML can make a short text hold more than any memory, all of which would be checked: so many values more than it has characters. */
const maxAliased = 50_000

function mostValuesOf(text: string): number {
  return Math.min(maxValues, text.length + maxAliased)
}

function hasTooMuch(content: unknown, most: number): boolean {
  let count = 0
  const waiting = [content]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value !== 'object' || value === null) continue
    const inner = Object.values(value)
    count += inner.length
    if (count > most) return true
    for (const one of inner) waiting.push(one)
  }
  return false
}

function decode(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) throw refuse(name, '', 'it must be text in UTF-8.')
    throw error
  }
}

/**
 * One parser for both, since JSON is YAML: duplicate keys are refused in either. The core schema of YAML 1.2 leaves text that looks like
 * a time as text.
 */
function parse(text: string, name: string): unknown {
  try {
    return load(text, { schema: CORE_SCHEMA })
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const { mark, reason } = error
    const place = mark ? `line ${mark.line + 1}, column ${mark.column + 1}` : ''
    throw refuse(name, place, `it is neither YAML nor JSON (${reason}); fix it there.`)
  }
}

function refuse(name: string, place: string, problem: string): WorldRefused {
  return new WorldRefused(name, [{ place, problem }], 1)
}
