import type { CatalogueEntry } from '../../server/src/errors.ts'
import { badArgument } from '../../server/src/graph/define-error.ts'
import { argumentWrong } from '../../server/src/graph/errors.ts'
import { type ErrorDefinition, GraphError } from '../../server/src/graph/graph-error.ts'
import { renderError, usualForm } from '../../server/src/graph/shown-errors/render-error.ts'
import type { Vocabulary } from '../../server/src/graph/vocabulary.ts'
import { code, writeMark, writeTable } from './markdown.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'

/** The meaning of each status and code, with its subcode if any. */
export const meanings: Readonly<Record<string, string>> = {
  '400 1': 'The id and the secret are not those of one app.',
  '400 100': 'An argument is missing or wrong, or the request cannot be read.',
  '400 100 2388040': 'A text of a template is empty or too long.',
  '400 100 2388047': 'The header of a template breaks a rule.',
  '400 100 2388073': 'The footer of a template breaks a rule.',
  '400 100 2388293': 'A template has too many variables for its length.',
  '400 100 2388299': 'A variable of a template stands where it may not.',
  '400 100 36007': 'The code of a sign-up is unknown, used or too old.',
  '400 100 36008': 'The redirect address differs from that of the sign-up.',
  '400 100 36009': 'The verifier does not fit the challenge of the sign-up.',
  '400 190': 'The token cannot be exchanged.',
  '400 131051': 'The kind of message is unknown, is out of scope, or cannot be sent to this recipient.',
  '401 104': 'There is no access token.',
  '401 190 463': 'The access token, or the signature of a body, is not good.',
  '401 190 467': 'The access token was revoked (`VOCABULARY=whatsapp` alone).',
  '403 10': 'The feature is switched off for what was acted on.',
  '403 200': 'The token sees it, but may not do it.',
  '403 368': 'The platform has restricted the number.',
  '403 131031': 'The account was rejected by its review.',
  '403 138006': 'The user has not given the number permission to call.',
  '404 803': 'The object does not exist, or the token may not see it: both get the same response.',
  '408 2': 'What was waited for did not happen in time.',
  '416 100': 'The range of a download begins behind its end.',
  '422 100': 'A rule of the business forbids it.',
  '422 100 2388019': 'The account has as many templates as it may have.',
  '422 100 2388023': 'The name of a template that was deleted cannot be used yet.',
  '422 100 2388024': 'There is a template of that name and language.',
  '422 132000': 'A message has another number of template parameters than the template has variables.',
  '422 132001': 'There is no approved template of that name and language.',
  '422 132005': 'A template is too long when it is filled in.',
  '422 132012': 'A template parameter is missing, or of the wrong kind or form.',
  '422 132015': 'The template is paused.',
  '422 132016': 'The template is disabled.',
  '422 131009': 'The message that is meant, or the user, is unknown or no longer kept.',
  '422 131020': 'Nobody is in the group.',
  '422 131021': 'The recipient is the sender.',
  '422 131026': 'The number has blocked the recipient.',
  '422 131041': 'The number has no such group.',
  '422 131053': 'The media file is unknown, or of a type that the message does not take.',
  '422 131047': 'The user has not written lately.',
  '422 133005': 'The two-step verification PIN is wrong.',
  '422 133010': 'The number is not registered, or not connected.',
  '422 138003': 'A call with the user is open already.',
  '429 4': 'The limit of edits of a template is reached.',
  '422 139101': 'The block list of the number is full.',
  '429 4 2446079': 'A rate limit is reached.',
  '429 4 2446080': 'The limit of what can be created in a while is reached.',
  '429 4 2390008': 'The limit of call permission checks is reached.',
  '429 130429': 'The limit of messages of the number is reached.',
  '429 131056': 'The limit of messages to this user or group is reached.',
  '429 138009': 'The limit of requests for permission to call is reached.',
  '429 138012': 'The limit of calls to this user is reached.',
  '500 2': 'A fault of the service.',
}

export function keyOf({ status, code: number, subcode }: ErrorDefinition): string {
  return [status, number, ...(subcode === undefined ? [] : [subcode])].join(' ')
}

/** docs/errors.md: the catalogue. */
export function writeErrorsPage(entries: readonly CatalogueEntry[], vocabulary: Vocabulary): string {
  const kinds = new Map(entries.map(({ definition }) => [keyOf(definition), definition]))
  for (const key of kinds.keys()) {
    if (!Object.hasOwn(meanings, key)) throw new Error(`errors-page.ts must say what an error ${key} means`)
  }
  const codes = Object.entries(meanings).map(([key, meaning]) => {
    const definition = kinds.get(key)
    if (!definition) throw new Error(`errors-page.ts explains the error ${key}, which there is not`)
    const { type, is_transient } = renderError(new GraphError(definition, {}), vocabulary, trace, usualForm).body.error
    const { status, code: number, subcode } = definition
    return [
      String(status),
      String(number),
      String(subcode ?? ''),
      code(String(type)),
      is_transient ? 'yes' : '',
      meaning,
    ]
  })
  const sample = badArgument(argumentWrong('limit', { expected: 'an integer from 1 to 100' }))
  const statuses = [...new Set(Object.keys(meanings).map((key) => Number(key.split(' ')[0])))]
  return `${[
    writeMark('`server/src/errors.ts`, the catalogue of errors'),
    '# Errors',
    `Every error has one envelope, with one sentence for a person: what is wrong, and what would be right. Programs go by the status and the code. ${code(vocabulary.trace_member)} is also the header ${code(vocabulary.trace_header)} of every response, and in the log.`,
    `\`\`\`json\n${JSON.stringify(renderError(sample, vocabulary, trace, usualForm).body, null, 2)}\n\`\`\``,
    '## Codes',
    'What is transient can be tried again, with exponential backoff; `Retry-After` says how long to wait the first time.',
    writeTable(['Status', 'Code', 'Subcode', 'Type', 'Transient', 'What it means'], codes),
    '## Sentences',
    'All of them, by status. What is filled in when it happens stands in ‹ ›. A sentence about an argument begins with the place of the argument. Ids name errors in code, tests and this page; they are not sent. The wording may change; the status and the code do not.',
    'Where one call asks for several things, each that could not be done has the code and the sentence of its error in the response; for a group that could not be created they are in its event.',
    ...statuses.flatMap((status) => [
      `### ${status}`,
      writeSentences(entries.filter(({ definition }) => definition.status === status)),
    ]),
    '## World files and the command line',
    'A world file that breaks a rule is refused whole, with one line for each problem that names the file and the place in it. A command that fails prints one line on standard error after `switchboard:`, and its exit code is 1. These have neither codes nor ids: each says itself what to do.',
  ].join('\n\n')}\n`
}

function markPlaceholders(text: string): string {
  return text.replaceAll(/\{([a-z]\w*)\}/g, '‹$1›')
}

function writeSentences(entries: readonly CatalogueEntry[]): string {
  const hasCodes = entries.some(({ definition }) => definition.code !== 100)
  const rows = entries.map(({ definition: { id, code: number, subcode, text }, file }) => [
    `<a id="${id}"></a>${code(id)}`,
    ...(hasCodes ? [subcode === undefined ? String(number) : `${number}, ${subcode}`] : []),
    escapeHtml(markPlaceholders(text)),
    `[${folderOf(file)}](../server/src/${file})`,
  ])
  return writeTable(['Id', ...(hasCodes ? ['Code'] : []), 'Sentence', 'Defined in'], rows)
}

/** `resources/calls/errors.ts` → `calls` */
function folderOf(file: string): string {
  return file.split('/').at(-2) ?? file
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('*', '\\*').replaceAll('_', '\\_')
}
