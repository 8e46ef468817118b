import { badArgument } from '../../graph/errors.ts'
import type { AccountUpdate } from './schemas.ts'

const maxNameLength = 100

/** An account's name counts without the blanks around it. */
export function trimName({ name, ...others }: AccountUpdate): AccountUpdate {
  if (name === undefined) return others
  const trimmed = name.trim()
  const length = [...trimmed].length
  if (length < 1 || length > maxNameLength) {
    throw badArgument('name', `it must be a string of 1 to ${maxNameLength} characters, not counting blanks around it.`)
  }
  return { ...others, name: trimmed }
}
