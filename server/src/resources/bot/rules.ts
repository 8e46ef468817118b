import { type ArgumentProblem, badArgument } from '../../graph/define-error.ts'
import { commandNameTaken } from './errors.ts'
import type { BotOffer } from './schemas.ts'

/** A user picks a command by its name, so names must be unique. */
export function findCommandProblems(commands: readonly { command_name: string }[]): ArgumentProblem[] {
  const seen = new Map<string, number>()
  const problems: ArgumentProblem[] = []
  for (const [index, { command_name }] of commands.entries()) {
    const first = seen.get(command_name)
    if (first === undefined) seen.set(command_name, index)
    else problems.push(commandNameTaken(`commands[${index}].command_name`, { first }))
  }
  return problems
}

/** A bot that offers nothing yet. */
export const botDefaults: Required<BotOffer> = { prompts: [], commands: [], enable_welcome_message: false }

/** The complete new settings of a bot: a missing member is reset, and unknown members are ignored. */
export function readOffer({
  prompts = botDefaults.prompts,
  commands = botDefaults.commands,
  enable_welcome_message = botDefaults.enable_welcome_message,
}: BotOffer): Required<BotOffer> {
  for (const problem of findCommandProblems(commands)) throw badArgument(problem)
  return {
    prompts,
    commands: commands.map(({ command_name, command_description }) => ({ command_name, command_description })),
    enable_welcome_message,
  }
}
