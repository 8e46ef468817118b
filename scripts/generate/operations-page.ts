import type { Row } from '../../server/src/graph/operation.ts'
import type { Vocabulary } from '../../server/src/graph/vocabulary.ts'
import { listCalls } from '../../server/src/http/openapi/client-methods.ts'
import { scopesOf } from '../../server/src/http/openapi/doors.ts'
import { fullInput, placeholdersOf, shownPathOf } from '../../server/src/http/route-table.ts'
import { chapters } from '../../server/src/operations.ts'
import { code, writeMark, writeTable } from './markdown.ts'

const headings = [
  'Operation',
  'Door',
  'Method',
  'Path',
  'What it does',
  'Client',
  'Permission',
  'Rate class',
  'Arguments',
  'Fields',
]

/** docs/operations.md: the table of operations, chapter by chapter. */
export function writeOperationsPage(operations: readonly Row[], vocabulary: Vocabulary): string {
  const byChapter = Map.groupBy(operations, ({ chapter }) => chapter)
  const sections = chapters.flatMap(({ name, title }) => {
    const rows = byChapter.get(name) ?? []
    if (rows.length === 0) return []
    return [
      `## ${title}`,
      writeTable(
        headings,
        rows.map((operation) => writeRow(operation, vocabulary)),
      ),
    ]
  })
  return `${[
    writeMark('the table of operations'),
    '# Operations',
    'Every row of the table, whatever its [door](interface.md#doors). `?` marks an argument that may be left out; fields in **bold** come without being asked for. Every operation of the business door is counted under the rate class `platform`; the column names the class that it is counted under besides. Client is the method of `@switchboard/client`; an operation that does several things has one for each, and pages have none. The whole description, with schemas and examples, is `openapi/switchboard.json`, `openapi/gateway.json` and `openapi/operator.json`, and `/docs` of a running server shows it.',
    ...sections,
  ].join('\n\n')}\n`
}

function writeRow(operation: Row, vocabulary: Vocabulary): string[] {
  const { name, door, method, sentence, fields } = operation
  const rateClass = door === 'business' ? operation.rateClass : undefined
  return [
    `<a id="${name}"></a>${code(name)}`,
    door,
    method,
    code(shownPathOf(operation)),
    sentence,
    listCalls(name)
      .map((call) => code(`${call.resource}.${call.name}`))
      .join(', '),
    scopesOf(operation, vocabulary).map(code).join(' or '),
    rateClass === undefined ? '' : code(rateClass),
    listArguments(operation).join(', '),
    (fields?.available ?? [])
      .map((field) => (fields?.defaults.includes(field) ? `**${code(field)}**` : code(field)))
      .join(', '),
  ]
}

function listArguments(operation: Row): string[] {
  const { properties, required } = fullInput(operation)
  const inPath = placeholdersOf(operation.path)
  return Object.keys(properties)
    .filter((name) => !inPath.includes(name))
    .map((name) => code((required as string[] | undefined)?.includes(name) ? name : `${name}?`))
}
