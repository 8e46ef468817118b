import { CommandFailed } from '../fail.ts'

/**
 * The package that carries the sound of calls. It is loaded by the commands that need it and by nothing else: a server never does. In a
 * clone it is installed with the others; beside the package of the server it is installed by whoever wants it.
 */
export async function loadVoice(): Promise<typeof import('@switchboard/voice')> {
  try {
    return await import('@switchboard/voice')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new CommandFailed(
      'calls with sound need the package @switchboard/voice, which is not installed: npm install @switchboard/voice beside @switchboard/server',
    )
  }
}
