import { Command } from 'commander'
import { commandName } from '../../base/command-name.ts'
import { processEnvironment } from '../../base/environment.ts'
import { packageVersion } from '../../version.ts'
import { findLocalAddress, writeLocalUrl } from '../local-url.ts'
import { addAccessCommands } from './access.ts'
import { addRecordCommands } from './records.ts'
import { addRunningCommands } from './running.ts'
import { addTryingCommands } from './trying.ts'

/**
 * The command line: the help of each command is in `program/`, its work in its own file, which is loaded only for that command: most
 * commands need a small part of the service, and a person waits for them.
 */
export function buildProgram(): Command {
  const address = findLocalAddress(processEnvironment())
  const local = writeLocalUrl(address)
  const program = new Command('switchboard')
    .description('A self-hosted business messaging platform.')
    .version(packageVersion(), '-v, --version', 'print the version')
  program.commandsGroup('Run the service:')
  program.addHelpCommand(new Command('help').argument('[command]').description('show the help of a command'))
  addRunningCommands(program, address, local)
  program.commandsGroup('Access and secrets:')
  addAccessCommands(program)
  program.commandsGroup('What is in the store:')
  addRecordCommands(program)
  program.commandsGroup('Try it and test against it:')
  addTryingCommands(program, local)
  pointToHelp(program, commandName())
  return program
}

/** A mistake in a command points to the help of that command. */
function pointToHelp(command: Command, line: string): void {
  command.showHelpAfterError(`(see ${line} --help)`)
  for (const part of command.commands) pointToHelp(part, `${line} ${part.name()}`)
}
