import { parse } from 'node:path'

/** Where the recording of a call goes: the first has the name as it was given, later ones are numbered: `heard.ogg`, `heard-2.ogg`. */
export function nameRecording(path: string, number: number): string {
  if (number === 1) return path
  const { ext } = parse(path)
  return `${path.slice(0, path.length - ext.length)}-${number}${ext}`
}
