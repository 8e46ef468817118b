import type { Row } from '../../server/src/graph/operation.ts'
import { chapters } from '../../server/src/operations.ts'
import { code, writeMark, writeTable } from './markdown.ts'
import { type SpecChapter, specChapters } from './spec-chapters.ts'

/** The texts that the pages are cut from, word for word. */
export interface SpecSources {
  /** docs/spec/management-api.md */
  readonly specification: string
  /** docs/spec/decisions.md */
  readonly decisions: string
  /** The title of a file of docs/decisions. */
  readonly titleOf: (reason: string) => string
}

export interface Section {
  /** `Outer/Inner`, or `''` for the text before the first heading below the title. */
  readonly key: string
  /** The text below its heading, up to the next one, unchanged. */
  readonly text: string
}

/** The pages with text, and one for each chapter that neither text mentions. */
function listPages(): SpecChapter[] {
  const withText = new Set(specChapters.flatMap(({ operations }) => operations))
  const ours = chapters.filter(({ name }) => !withText.has(name))
  return [
    ...specChapters,
    ...ours.map(({ name, title }) => ({
      ...{ file: name, title, operations: [name] },
      ...{ specification: [], decisions: [], reasons: [] },
    })),
  ]
}

/** docs/spec/README.md, and a page for every chapter in docs/spec/chapters. Edits belong in the texts of docs/spec alone. */
export function writeSpecPages(operations: readonly Row[], sources: SpecSources): Map<string, string> {
  const specification = new Sections('management-api.md', sources.specification)
  const decisions = new Sections('decisions.md', sources.decisions)
  const pages = new Map<string, string>(
    listPages().map((chapter) => {
      const rows = operations.filter((operation) => chapter.operations.includes(operation.chapter))
      const page = [
        writeMark(
          '`../management-api.md` and `../decisions.md`, which are edited instead, and the table of operations',
        ),
        `# ${chapter.title}`,
        '[All chapters](../README.md)',
        ...writeOperations(rows),
        ...writeText('The specification', specification, chapter.specification),
        ...writeText('Our decisions', decisions, chapter.decisions),
        ...writeOrigin(chapter),
        ...writeReasons(chapter, sources),
      ]
      return [`docs/spec/chapters/${chapter.file}.md`, `${page.join('\n\n')}\n`] as const
    }),
  )
  specification.assertAllTaken()
  decisions.assertAllTaken()
  pages.set('docs/spec/README.md', writeIndex(operations))
  return pages
}

/** Splits a text at its headings of the second and third level. */
export function cutSections(text: string): Section[] {
  const sections: { key: string; lines: string[] }[] = [{ key: '', lines: [] }]
  let outer = ''
  for (const line of text.split('\n')) {
    const [, marks, title = ''] = /^(##|###) (.+)$/.exec(line) ?? []
    if (marks === '##') outer = title
    if (marks) sections.push({ key: marks === '##' ? title : `${outer}/${title}`, lines: [] })
    // The title of the whole text is not a section.
    else if (!line.startsWith('# ')) sections.at(-1)?.lines.push(line)
  }
  return sections.map(({ key, lines }) => ({ key, text: lines.join('\n').trim() }))
}

/** The sections of a text, each of which is used once. */
class Sections {
  readonly #name: string
  readonly #left: Map<string, Section>

  constructor(name: string, text: string) {
    this.#name = name
    this.#left = new Map(cutSections(text).map((section) => [section.key, section]))
  }

  take(key: string): Section {
    const section = this.#left.get(key)
    if (!section) throw new Error(`${this.#name} has no section "${key}", or it is on two pages: see spec-chapters.ts`)
    this.#left.delete(key)
    return section
  }

  assertAllTaken(): void {
    const [first] = this.#left.keys()
    if (first !== undefined) throw new Error(`"${first}" of ${this.#name} is on no page: put it in spec-chapters.ts`)
  }
}

function writeText(heading: string, sections: Sections, keys: readonly string[]): string[] {
  const taken = keys.map((key) => sections.take(key)).filter(({ text }) => text !== '')
  if (taken.length === 0) return []
  const parts = taken.flatMap(({ key, text }) => (key === '' ? [text] : [`### ${key.replace('/', ': ')}`, text]))
  return [`## ${heading}`, ...parts]
}

function writeOperations(rows: readonly Row[]): string[] {
  if (rows.length === 0) return []
  return [
    '## Operations',
    writeTable(
      ['Operation', 'Method', 'Path', 'What it does', 'Folder'],
      rows.map((row) => {
        const { name, chapter, method, path, sentence } = row
        return [
          `[${code(name)}](../../operations.md#${name})`,
          method,
          code(path),
          sentence,
          `[${chapter}/](../../../${resources}/${chapter})`,
        ]
      }),
    ),
  ]
}

const resources = 'server/src/resources'

const texts = [
  ['[management-api.md](management-api.md)', 'the specification of the business API'],
  ['[decisions.md](decisions.md)', 'our decisions where the specification is silent'],
  ['[messages.md](messages.md)', "messages, message templates and the users' side"],
  [
    '[calls-with-sound.md](calls-with-sound.md)',
    'the sound of calls: session descriptions, and what is wrong with them',
  ],
  ['[operator-door.md](operator-door.md)', 'operators, the sandbox and signing in to the console'],
  ['[sign-up.md](sign-up.md)', 'connecting a business to an app: the dialog, its codes, and the tokens of an app'],
  ['[public-habits.md](public-habits.md)', 'how `VOCABULARY=whatsapp` behaves like the public platform'],
]

/** The facts that responses of the second vocabulary are compared with. */
const publicFacts =
  "[public.json](public.json) holds the facts of the public platform's document: parameters, bodies and responses as schemas. In the tests every response with `VOCABULARY=whatsapp` is [checked against it](../../server/test/harness/public-responses.ts); what differs is [a list with reasons](../../server/test/harness/public-exceptions.ts)."

const planned = [
  ['[public-document.md](planned/public-document.md)', "operations of the public platform's document that are missing"],
]

/** Where the rest of a chapter is described, or all of one that the specification does not speak of. */
function writeOrigin({ specification, text }: SpecChapter): string[] {
  const isWhole = specification.length === 0
  if (text !== undefined) return [`${isWhole ? 'What it does' : 'More'} is in [a text of its own](../${text}).`]
  return isWhole ? ['Neither text has a chapter about it: it is ours alone.'] : []
}

function writeReasons({ reasons }: SpecChapter, { titleOf }: SpecSources): string[] {
  if (reasons.length === 0) return []
  const lines = reasons.map((reason) => `- [${titleOf(reason)}](../../decisions/${reason}.md)`)
  return ['## Why it is so', lines.join('\n')]
}

function writeIndex(operations: readonly Row[]): string {
  const rows = listPages().map(({ file, title, operations: ofTable }) => {
    const own = operations.filter(({ chapter }) => ofTable.includes(chapter))
    const folders = [...new Set(own.map(({ chapter }) => chapter))]
    return [
      `[${title}](chapters/${file}.md)`,
      own.length === 0 ? '' : String(own.length),
      folders.map((folder) => `[${folder}/](../../${resources}/${folder})`).join(', '),
    ]
  })
  return `${[
    writeMark('`management-api.md`, `decisions.md` and the table of operations'),
    '# The specification and our decisions',
    `What the service does, by chapter: ${operations.length} operations of ${chapters.length} chapters, each with its folder and its line in [operations.md](../operations.md).`,
    writeTable(['Chapter', 'Operations', 'Folder'], rows),
    '## The texts',
    `These are edited by hand. The pages in \`chapters/\` are cut from the first two, word for word, by \`./switchboard gen\`.`,
    writeTable(['Text', 'What it fixes'], texts),
    publicFacts,
    'What surrounds the API (commands, settings, the world file, the gateway) is in [interface.md](../interface.md).',
    '## Planned',
    'Contracts of features that are not built yet. A text moves to the others when its feature is complete.',
    writeTable(['Text', 'What it fixes'], planned),
  ].join('\n\n')}\n`
}
