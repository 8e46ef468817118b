import { type GraphError, renderError } from '../graph/errors.ts'
import type { Vocabulary } from '../graph/vocabulary.ts'
import type { Message } from './error-messages.ts'
import { code, writeMark, writeTable } from './markdown.ts'

/** What each pair of status and code means, with its subcode where it has one. */
export const meanings: Readonly<Record<string, string>> = {
  '400 100': 'An argument is missing or wrong, or the request cannot be read.',
  '401 104': 'There is no access token.',
  '401 190 463': 'The access token, or the signature of a body, is not good.',
  '403 10': 'The feature is switched off for what was acted on.',
  '403 200': 'The token sees it, but may not do it.',
  '403 138006': 'The user has not given the number permission to call.',
  '404 803': 'There is no such thing, or it is not visible to the token: both get the same answer.',
  '416 100': 'The range of a download begins behind its end.',
  '422 100': 'A rule of the business forbids it.',
  '422 133005': 'The two-step verification PIN is wrong.',
  '422 138003': 'A call with the user is open already.',
  '429 4 2446079': 'A rate limit is reached.',
  '429 4 2446080': 'The limit of what can be created in a while is reached.',
  '429 4 2390008': 'The limit of call permission checks is reached.',
  '429 138012': 'The limit of calls to this user is reached.',
  '500 2': 'A fault of the service.',
}

export function keyOf({ status, code: number, subcode }: GraphError): string {
  return [status, number, ...(subcode === undefined ? [] : [subcode])].join(' ')
}

/** What an error is answered with besides its message. */
export function describeError(error: GraphError, words: Vocabulary) {
  const { type, is_transient = false } = renderError(error, words, 'trace', false).error
  return {
    status: error.status,
    code: error.code,
    subcode: error.subcode,
    type: String(type),
    transient: is_transient === true,
  }
}

/** docs/errors.md: every error, and every message that somebody can be told. */
export function writeErrorsPage(messages: readonly Message[], words: Vocabulary): string {
  const answered = messages.flatMap(({ error }) => (error ? [error] : []))
  const kinds = new Map(answered.map((error) => [keyOf(error), error]))
  for (const key of kinds.keys()) {
    if (!Object.hasOwn(meanings, key)) throw new Error(`errors-page.ts must say what an error ${key} means`)
  }
  const codes = Object.entries(meanings).map(([key, meaning]) => {
    const error = kinds.get(key)
    if (!error) throw new Error(`errors-page.ts explains the error ${key}, which there is not`)
    const { status, code: number, subcode, type, transient } = describeError(error, words)
    return [String(status), String(number), String(subcode ?? ''), code(type), transient ? 'yes' : '', meaning]
  })
  const statuses = [...new Set(Object.keys(meanings).map((key) => Number(key.split(' ')[0])))]
  return `${[
    writeMark('the sources: every message that they hold'),
    '# Errors',
    `Every error has one envelope, with one sentence for a person: what was wrong, and what would be right. Programs go by the status and the code. ${code(words.trace_member)} is also the header ${code(words.trace_header)} of every answer, and in the log.`,
    '```json\n' +
      JSON.stringify(
        renderError(answered[0] as GraphError, words, '4bf92f3577b34da6a3ce929d0e0e4736', false),
        null,
        2,
      ) +
      '\n```',
    '## Codes',
    'What is transient can be tried again, with growing pauses; `Retry-After` tells of the first one.',
    writeTable(['Status', 'Code', 'Subcode', 'Type', 'Transient', 'What it means'], codes),
    '## Messages',
    'All of them, by status. What is put in at the time stands in ‹ ›. A message about an argument begins with its name. The wording may change; the status and the code do not.',
    ...statuses.flatMap((status) => [
      `### ${status}`,
      writeMessages(messages.filter(({ error }) => error?.status === status)),
    ]),
    '### Within an answer',
    'Where one call asks for several things, each that could not be done is told with a code and a message of its own; a group that could not be created, in its event.',
    writeMessages(messages.filter(({ audience, error }) => audience === 'api' && !error)),
    '## World files',
    'A file that breaks a rule is refused whole; each line names the file and the place in it.',
    writeMessages(messages.filter(({ audience }) => audience === 'world')),
    '## The command line',
    'One line on standard error after `switchboard:`, and the exit code 1.',
    writeMessages(messages.filter(({ audience }) => audience === 'command')),
  ].join('\n\n')}\n`
}

function writeMessages(messages: readonly Message[]): string {
  const rows = new Map(
    messages.map(({ text, where, error }) => {
      const number = error && error.code !== 100 ? String(error.code) : ''
      return [`${number} ${text}`, [number, escapeHtml(text), `[${folderOf(where)}](../server/src/${folderOf(where)})`]]
    }),
  )
  const hasCodes = [...rows.values()].some(([number]) => number !== '')
  return writeTable(
    [...(hasCodes ? ['Code'] : []), 'Message', 'Said by'],
    [...rows.values()].map((cells) => (hasCodes ? cells : cells.slice(1))),
  )
}

/** Chapters are folders; what is beside them is a file. */
function folderOf(where: string): string {
  return /^resources\/[\w-]+/.exec(where)?.[0] ?? where
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('*', '\\*').replaceAll('_', '\\_')
}
