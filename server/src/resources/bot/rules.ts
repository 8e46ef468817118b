import type { Problem } from '../../graph/validation.ts'

/** A user picks a command by its name, so no two may share one. */
export function findCommandProblems(commands: readonly { command_name: string }[]): Problem[] {
  const seen = new Map<string, number>()
  const problems: Problem[] = []
  for (const [index, { command_name }] of commands.entries()) {
    const first = seen.get(command_name)
    if (first === undefined) seen.set(command_name, index)
    else {
      problems.push({
        place: `commands[${index}].command_name`,
        problem: `commands[${first}] has that name already; choose another.`,
      })
    }
  }
  return problems
}

/** A bot that offers nothing yet. */
export const botDefaults = { prompts: [] as string[], commands: [], enable_welcome_message: false }
