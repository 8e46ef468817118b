import type { MessageTemplatesTable, TemplateCard, TemplateComponent } from '../../db/tables.ts'
import { badArgument } from '../../graph/define-error.ts'
import { argumentWrong } from '../../graph/errors.ts'
import type { MediaFormat } from './components/read-parts.ts'
import { headerHandleOfAnotherType, memberNotTaken } from './errors.ts'
import {
  qualityScores,
  summaryNames,
  type TemplateQuery,
  templateCategories,
  templateLanguages,
  templateStatuses,
} from './schemas.ts'
import type { ParameterFormat } from './variables.ts'

type Category = MessageTemplatesTable['category']

/** How long a message of a template is tried to be delivered at the most, in seconds: 30 days. */
const longestLife = 2_592_000

const lives: Readonly<Record<Category, { min: number; max: number; usual: number }>> = {
  AUTHENTICATION: { min: 30, max: 900, usual: 600 },
  UTILITY: { min: 30, max: 43_200, usual: longestLife },
  MARKETING: { min: 43_200, max: longestLife, usual: longestLife },
}

/** The life of messages as it is stored: what is given, or what the category has. */
export function readLife(category: Category, given: number | undefined): number {
  const { min, max, usual } = lives[category]
  if (given === undefined) return usual
  if (given === -1) return longestLife
  if (given >= min && given <= max) return given
  const expected = `an integer from ${min} to ${max} with ${category}, or -1 for ${longestLife}`
  throw badArgument(argumentWrong('message_send_ttl_seconds', { expected }))
}

/** A life that was right for another category stays if the new one takes it too. */
export function keepLife(category: Category, stored: number): number {
  const { min, max, usual } = lives[category]
  return (stored >= min && stored <= max) || stored === usual ? stored : usual
}

/** The one variable of an authentication template is the code, and has no name. */
export function readFormat(category: Category, given: string | undefined): ParameterFormat {
  const format = (given ?? 'POSITIONAL').toUpperCase() as ParameterFormat
  if (category === 'AUTHENTICATION' && format === 'NAMED') {
    throw badArgument(memberNotTaken('parameter_format', { where: 'or be POSITIONAL with AUTHENTICATION' }))
  }
  return format
}

/** What the search looks at: name and body, in lower case. */
export function writeContent(name: string, components: readonly TemplateComponent[]): string {
  const body = components.find(({ type }) => type === 'BODY')?.text ?? ''
  return `${name}\n${body}`.toLowerCase()
}

/** The types of file that a header takes. */
export const headerTypes: Readonly<Record<MediaFormat, readonly string[]>> = {
  IMAGE: ['image/jpeg', 'image/png'],
  VIDEO: ['video/mp4'],
  DOCUMENT: ['application/pdf'],
}

/** How the name of a header's file ends: `image/png` → `png`. */
export function headerExtension(type: string): string {
  return type === 'image/jpeg' ? 'jpg' : type.slice(type.indexOf('/') + 1)
}

export function checkHeaderType(format: MediaFormat, found: string): void {
  const types = headerTypes[format]
  if (!types.includes(found)) throw headerHandleOfAnotherType({ found, format, types: types.join(' or ') })
}

/** Where the file of a header can be had, below the address of the service. */
export function headerPath(id: string): string {
  return `/template_files/${id}`
}

/** The same of the file of a card, by its place. */
export function cardPath(id: string, index: number): string {
  return `/template_files/${id}/${index}`
}

/** The cards of a template that has some. */
export function cardsOf(components: readonly TemplateComponent[]): readonly TemplateCard[] {
  return components.find(({ type }) => type === 'CAROUSEL')?.cards ?? []
}

/** A template as the API shows it; `toUrl` makes addresses where the files of its headers can be had. */
export function toTemplate(row: MessageTemplatesTable, toUrl?: (path: string) => string) {
  const headerUrl = row.header_sha256 === null ? undefined : toUrl?.(headerPath(row.id))
  const cardUrl = (index: number) => toUrl?.(cardPath(row.id, index))
  return {
    id: row.id,
    name: row.name,
    language: row.language,
    category: row.category,
    previous_category: row.previous_category,
    status: row.status,
    components: row.components.map((component) => showComponent(component, headerUrl, cardUrl)),
    parameter_format: row.parameter_format,
    message_send_ttl_seconds: row.message_send_ttl_seconds,
    quality_score: { score: row.quality_score, date: writeTime(row.quality_time) },
    rejected_reason: row.rejected_reason ?? 'NONE',
    created_time: writeTime(row.created_time),
    last_updated_time: writeTime(row.last_updated_time),
  }
}

function showComponent(
  component: TemplateComponent,
  headerUrl: string | undefined,
  cardUrl: (index: number) => string | undefined,
): TemplateComponent {
  if (component.cards) {
    const cards = component.cards.map(({ components, file }, index) => {
      const url = file && cardUrl(index)
      return { components: components.map((part) => showHeader(part, url)) }
    })
    return { ...component, cards }
  }
  return showHeader(component, headerUrl)
}

function showHeader(component: TemplateComponent, url: string | undefined): TemplateComponent {
  if (component.type !== 'HEADER' || url === undefined) return component
  return { ...component, example: { header_handle: [url] } }
}

function writeTime(time: number): string {
  return new Date(time).toISOString()
}

/** What a list is narrowed by; an empty list of values is none. */
export interface TemplateFilter {
  readonly name: string | undefined
  readonly content: string | undefined
  readonly status: readonly string[] | undefined
  readonly category: readonly string[] | undefined
  readonly language: readonly string[] | undefined
  readonly quality_score: readonly string[] | undefined
}

export function readFilter(query: TemplateQuery): TemplateFilter {
  return {
    name: query.name,
    content: query.name_or_content?.toLowerCase(),
    status: readChoices('status', query.status, templateStatuses),
    category: readChoices('category', query.category, templateCategories),
    language: readChoices('language', query.language, templateLanguages),
    quality_score: readChoices('quality_score', query.quality_score, qualityScores),
  }
}

/** One value, or a JSON array of several. */
function readChoices(
  argument: string,
  text: string | undefined,
  values: readonly string[],
): readonly string[] | undefined {
  if (text === undefined || text === '') return undefined
  const given = text.startsWith('[') ? parseArray(text) : [text]
  if (given && given.length > 0 && given.length <= values.length && given.every((one) => values.includes(one))) {
    return given
  }
  const expected = `one of ${values.join(', ')}, or a JSON array of some of them`
  throw badArgument(
    argumentWrong(argument, {
      expected: expected.length > 200 ? 'codes of languages such as en_US, one or a JSON array' : expected,
    }),
  )
}

function parseArray(text: string): string[] | undefined {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The members of the summary that are asked for. */
export function readSummary(text: string | undefined): string[] {
  const names = (text ?? '').split(',').map((name) => name.trim())
  const asked = names.filter((name) => name !== '')
  if (asked.every((name) => summaryNames.includes(name))) return asked
  throw badArgument(argumentWrong('summary', { expected: `names of ${summaryNames.join(', ')}, separated by commas` }))
}
