import { type Command, Option } from 'commander'

/** Flags that several commands have. */

export const dataFlag = ['--data <dir>', 'the folder of the embedded store (DATA_DIR)'] as const
export const urlFlag = ['--url <base>', 'use a running server instead of the store (SWITCHBOARD_URL)'] as const
export const tokenFlag = [
  '--token <token>',
  "for a server: a token with the scope operator (SWITCHBOARD_TOKEN; default: the demo's)",
] as const
export const jsonFlag = ['--json', 'print all fields, one JSON object per line'] as const

/** For a command that always uses a server. */
export function forServer(command: Command, local: string): Command {
  return command
    .option('--url <base>', `the server (SWITCHBOARD_URL; default: at HOST and PORT, ${local})`)
    .option(...tokenFlag)
}

/** A flag that may be repeated; `nothing` says what applies without it. */
export function repeatable(flag: string, description: string, nothing: string): Option {
  return new Option(flag, `${description}; repeat for several`)
    .argParser((value: string, soFar: string[]) => [...soFar, value])
    .default([], nothing)
}

/** The addresses of calls with sound. */
export function addressFlag(): Option {
  return repeatable(
    '--address <ip>',
    'an address of this machine to offer for the sound',
    'all addresses of this machine',
  )
}
