import type { GraphError } from '../../../graph/graph-error.ts'

/** Which field an error is about that does not name it in its sentence. */
const fieldsOfErrors: Readonly<Record<string, string>> = {
  number_on_platform: 'phone_number',
  code_wrong: 'code',
  person_code_wrong: 'code',
  code_expired: 'code',
  no_code_waiting: 'code',
  too_many_wrong_codes: 'code',
}

/** What people are told where the sentence of the API names its calls or its limits. */
const words: Readonly<Record<string, string>> = {
  code_expired: 'The code has expired; send a new one.',
  no_code_waiting: 'No code is waiting for this number; send a new one.',
  number_on_platform: 'This number is on the platform already, in another account; use another number.',
  too_many_wrong_codes: 'Too many wrong codes were sent for this phone number; try again in {wait}.',
  rate_limit_reached: 'That was asked for too often; try again in {wait}.',
  creation_limit_reached: 'Too many numbers were added to this account; try again in {wait}.',
}

/** How long to wait, as people say it: in minutes from one on, and never less than is left. */
export function describeWait(seconds: number): string {
  const isShort = seconds <= 59
  const count = Math.max(1, Math.ceil(isShort ? seconds : seconds / 60))
  return `${count} ${isShort ? 'second' : 'minute'}${count === 1 ? '' : 's'}`
}

/** `left`: how many tries are left, within a text of the API; none where they are not counted. */
function describeWrongCode(left: string): string {
  const [tries] = /\d+/.exec(left) ?? []
  if (tries === '0') return 'The code is wrong, and no other can be tried for some minutes.'
  const newest = 'The code is wrong; type the newest one that the number got.'
  if (tries === undefined) return newest
  return `${newest} ${tries === '1' ? 'One try is left.' : `${tries} tries are left.`}`
}

/** The problem of a form, by the name of its field; the empty name: of the form as a whole. */
export function describeProblem({ definition, args, message }: GraphError): Readonly<Record<string, string>> {
  const [, named, sentence = message] = /^([a-z_]+): (.*)$/s.exec(message) ?? []
  const field = named ?? fieldsOfErrors[definition.id] ?? ''
  const own =
    definition.id === 'code_wrong'
      ? describeWrongCode(String(args['left']))
      : words[definition.id]?.replace('{wait}', describeWait(Number(args['seconds'])))
  const text = own ?? sentence.replace(/^it must be a string of (\d)/, 'it must have $1')
  return { [field]: text.charAt(0).toUpperCase() + text.slice(1) }
}
