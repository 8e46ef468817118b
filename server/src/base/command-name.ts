import { processEnvironment } from './environment.ts'

const nameInClone = './switchboard'

/** How the user of this process calls the command: as in a clone, or as the launcher of the package says (server/bin). */
export function commandName(): string {
  return processEnvironment()['SWITCHBOARD_CALLED_AS'] ?? nameInClone
}

/** A text that calls the command as in a clone, for the user of this process. */
export function nameCommand(text: string): string {
  return text.replaceAll(`${nameInClone} `, `${commandName()} `)
}
