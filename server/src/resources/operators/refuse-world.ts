import { badArgument } from '../../graph/define-error.ts'
import type { WorldRefused } from '../../world-part/problems.ts'
import { worldRefused } from './errors.ts'

/** The 400 of a world that breaks a rule, with every place. */
export function refuseWorld({ message }: WorldRefused): Error {
  return badArgument(worldRefused('world', { problems: message.replaceAll('\n', ' ').replace(/\.$/, '') }))
}
