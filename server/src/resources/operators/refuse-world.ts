import type { WorldRefused } from '../../world-part/problems.ts'
import { worldRefused } from './errors.ts'

/** The 400 of a world that breaks a rule, with every place. */
export function refuseWorld({ message }: WorldRefused): Error {
  return worldRefused({ problems: message.replaceAll('\n', ' ').replace(/\.$/, '') })
}
