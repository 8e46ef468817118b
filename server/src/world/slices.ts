import { YieldingTask } from '../base/work/yielding-task.ts'

/** How long the JSON of a slice is, unless one text in it is longer: it is parsed in less than a millisecond. */
const sliceCharacters = 65_536

/** Members of the list or object at `path`, as JSON; they are added to the members already there. */
export interface Slice {
  readonly path: readonly (string | number)[]
  readonly json: string
}

/** Cuts a value of JSON into slices, so that another thread can put it together a little at a time. The value is a list or an object. */
export function cutIntoSlices(value: object, path: readonly (string | number)[] = []): Slice[] {
  const isList = Array.isArray(value)
  const slices: Slice[] = []
  let members: string[] = []
  let length = 0
  const close = () => {
    if (members.length > 0) slices.push({ path, json: isList ? `[${members.join(',')}]` : `{${members.join(',')}}` })
    members = []
    length = 0
  }
  for (const [key, member] of Object.entries(value)) {
    const json = JSON.stringify(member) ?? 'null'
    const label = isList ? '' : `${JSON.stringify(key)}:`
    const isLarge = json.length > sliceCharacters && typeof member === 'object' && member !== null
    const shown = isLarge ? (Array.isArray(member) ? '[]' : '{}') : json
    members.push(label + shown)
    length += shown.length
    if (isLarge || length > sliceCharacters) close()
    if (isLarge) slices.push(...cutIntoSlices(member, [...path, isList ? Number(key) : key]))
  }
  close()
  return slices
}

/** Puts slices together again; requests have their turn meanwhile. */
export async function joinSlices(slices: readonly Slice[]): Promise<object> {
  const whole: Record<string, unknown> = {}
  const task = new YieldingTask()
  for (const { path, json } of slices) {
    let target: unknown = whole
    for (const key of path) target = (target as Record<string | number, unknown>)[key]
    const members: unknown = JSON.parse(json)
    if (Array.isArray(target)) target.push(...(members as unknown[]))
    else addMembers(target as object, members as object)
    await task.yieldIfDue()
  }
  return whole
}

/** Whatever their names are: `__proto__` is one like all others. */
function addMembers(target: object, members: object): void {
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true })
  }
}
