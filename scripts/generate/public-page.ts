import { habits } from '../../server/src/graph/habits.ts'
import type { Row } from '../../server/src/graph/operation.ts'
import { publicKeyOf, publicOperations } from '../../server/test/harness/public-document.ts'
import { publicExceptions } from '../../server/test/harness/public-exceptions.ts'
import { code, writeMark, writeTable } from './markdown.ts'
import { publicDifferences } from './public-differences.ts'
import { publicLibraries } from './public-libraries.ts'

/** What is served, but not under a path of its own: the address of a file, and the posts to a subscriber. */
const servedElsewhere = ['GET /{Version}/{Media-URL}', 'POST /whatsapp/webhooks']

/** docs/public-platform.md: what somebody who comes from the public platform needs to know. `operations` are those of the second vocabulary. */
export function writePublicPage(operations: readonly Row[]): string {
  const served = new Set([...operations.map(publicKeyOf).filter((key) => key !== undefined), ...servedElsewhere])
  const missing = Object.keys(publicOperations).filter((key) => !served.has(key))
  return `${[
    writeMark('`server/src/graph/habits.ts`, the lists of differences, and `docs/spec/public.json`'),
    '# Coming from the public platform',
    'You have a bot or a library for the public WhatsApp Business Platform, and want to run it against Switchboard. Start it so:',
    '```sh\nVOCABULARY=whatsapp npm start\n```',
    'Then give your program another base URL and token; nothing else changes. Without the setting the service speaks `msgapp`, the vocabulary of [its specification](spec/README.md), and the error for a request in the other vocabulary names the setting.',
    writeTable(
      ['Base URL', 'Version', 'Token', 'Phone number id', 'Account id', 'App secret'],
      [
        ['`http://127.0.0.1:8080`', 'any from `v13.0` to `v30.0`', '`demo-token`', '`4000000000000001`'].concat([
          '`1000000000000001`',
          '`shrub-app-secret`',
        ]),
      ],
    ),
    '## Your library',
    'Requests of these, in their own form, are a [table of the tests](../server/test/library-shapes.test.ts).',
    writeTable(
      ['Library', 'Language', 'Base URL', 'Version'],
      publicLibraries.map(({ name, language, baseUrl, version }) => [name, language, baseUrl, version]),
    ),
    '## What is the same as there',
    `Names, paths, bodies, webhooks and their signatures, and ${served.size} of the ${Object.keys(publicOperations).length} operations of the public document (v23.0): every response of a test is checked against it. The last column is what the specification has in \`msgapp\` instead.`,
    writeTable(
      ['Subject', '`whatsapp`', '`msgapp`'],
      Object.values(habits).map(({ subject, does, instead }) => [subject, does, instead]),
    ),
    '## What differs, and why',
    writeTable(
      ['Subject', 'There', 'Here', 'Why'],
      publicDifferences.map(({ subject, there, here, why }) => [subject, there, here, why]),
    ),
    '### Members of responses',
    'The tests know these differences from the public document, and no others.',
    writeTable(['Operation', 'Members', 'Are', 'Why'], describeExceptions()),
    '## What is not there',
    `${missing.length} operations of the public document: they are [planned](spec/planned/public-document.md). They get 404 with code 803.`,
    missing
      .map((key) => code(key.replace('/{Version}', '')))
      .sort()
      .map((operation) => `- ${operation}`)
      .join('\n'),
  ].join('\n\n')}\n`
}

/** One line for the members of an operation that differ for the same reason. */
function describeExceptions(): string[][] {
  const groups = Map.groupBy(publicExceptions, ({ operation, is, reason }) => JSON.stringify([operation, is, reason]))
  return [...groups.values()].map((group) => {
    const [{ operation, is, reason }] = group as [(typeof group)[number]]
    const members = group.map(({ member }) => code(member)).join(', ')
    return [`[${code(operation)}](operations.md#${operation})`, members, is, reason]
  })
}
