/** Makes the function that removes empty members from an input: null at any depth, and an empty text in `members` (`a.b`, `a.items[].b`). */
export function compileLeavingOut(members: readonly string[]): (input: Record<string, unknown>) => void {
  const paths = members.map((member) => member.replaceAll(each, `.${each}`).split('.'))
  return (input) => {
    leaveOutNull(input)
    for (const path of paths) leaveOut(input, path, 0)
  }
}

const each = '[]'

/** Bodies are bounded in depth before they come here. */
function leaveOutNull(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    if (member !== null) leaveOutNull(member)
    else if (!Array.isArray(value)) delete (value as Record<string, unknown>)[name]
  }
}

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
