/** Makes the function that removes the members of an input that are empty texts; they are named as `a.b` and `a.items[].b`. */
export function compileLeavingOut(members: readonly string[]): (input: Record<string, unknown>) => void {
  const paths = members.map((member) => member.replaceAll(each, `.${each}`).split('.'))
  return (input) => {
    for (const path of paths) leaveOut(input, path, 0)
  }
}

const each = '[]'

function leaveOut(value: unknown, path: readonly string[], at: number): void {
  const step = path[at]
  if (step === undefined || typeof value !== 'object' || value === null) return
  if (step === each) {
    for (const item of Array.isArray(value) ? value : []) leaveOut(item, path, at + 1)
    return
  }
  const members = value as Record<string, unknown>
  if (at < path.length - 1) leaveOut(members[step], path, at + 1)
  else if (members[step] === '') delete members[step]
}
