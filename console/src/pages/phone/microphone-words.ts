/** Why a browser does not give the microphone, by the name of its error. */
const refusals: Readonly<Record<string, string>> = {
  NotAllowedError: 'it was refused. Allow it in the settings of the browser.',
  NotFoundError: 'none is there.',
  NotReadableError: 'it is in use by another program, or broken.',
}

export function describeRefusal(name: string, message: string): string {
  return `The microphone cannot be used: ${refusals[name] ?? (message || name)}`
}

export const microphoneGone = describeRefusal('', 'it was taken away.')

export const insecure = 'This page is not secure: browsers give the microphone to https pages and to localhost alone.'
