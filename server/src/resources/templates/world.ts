import { type Static, Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import type { MessageTemplatesTable, TemplateButton, TemplateComponent, TemplateExample } from '../../db/tables.ts'
import { releaseFile } from '../../files/files.ts'
import { GraphError } from '../../graph/graph-error.ts'
import { pickGiven, type Whole, withoutGaps } from '../../world-part/entries.ts'
import { defineWorldPart, type Entry, exportRows, type WriteContext } from '../../world-part/part.ts'
import { type Problems, Repeats } from '../../world-part/problems.ts'
import { readRows, upsertChanged, upsertNodes } from '../../world-part/rows.ts'
import { idSchema } from '../../world-part/schemas.ts'
import { accountEntries } from '../account/world.ts'
import { readComponents } from './components/read-components.ts'
import { withFiles } from './lifecycle/header-file.ts'
import { cardsOf, headerTypes, keepLife, readFormat, readLife, writeContent } from './rules.ts'
import {
  lifeSchema,
  parameterFormats,
  qualityScores,
  rejectionReasons,
  templateCategories,
  templateLanguageSchema,
  templateNameSchema,
  templateStatuses,
} from './schemas.ts'
import { filesOf, headerUse } from './store.ts'

/** Any members, because which ones a component has depends on its type: the rules refuse what does not fit. */
const componentSchema = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  'x-expects': 'a component: an object with a type and what belongs to it',
})

const schema = Type.Object({
  id: idSchema,
  name: templateNameSchema,
  language: templateLanguageSchema,
  category: Type.Enum(templateCategories),
  components: Type.Array(componentSchema, { minItems: 1, maxItems: 4 }),
  status: Type.Optional(Type.Enum(templateStatuses)),
  rejected_reason: Type.Optional(Type.Enum(rejectionReasons)),
  quality_score: Type.Optional(Type.Enum(qualityScores)),
  parameter_format: Type.Optional(Type.Enum(parameterFormats)),
  message_send_ttl_seconds: Type.Optional(lifeSchema),
})
type Given = Static<typeof schema>
type TemplateEntry = Entry<Given, Entry<{ id: string }>>

export const templateEntries = defineWorldPart({
  key: 'templates',
  form: 'list',
  under: accountEntries,
  schema,
  nodes: [{ kind: 'template', key: 'id' }],
  checkFile(problems) {
    const keys = new Repeats(problems)
    const categories = new Map<string, { category: string; place: string }>()
    return ({ given, place, parent }) => {
      checkRules(given, place, problems)
      const key = `${parent.given.id} ${given.name}`
      keys.note(`${key} ${given.language}`, `${place}.name`, 'that name and language in the same account')
      const first = categories.get(key)
      if (!first) categories.set(key, { category: given.category, place })
      else if (first.category !== given.category) {
        problems.add(
          `${place}.category`,
          `${first.place} has the same name and the category ${first.category}; give it the same.`,
        )
      }
    }
  },
  async checkStore(templates, { tx, problems }) {
    const byId = new Map(templates.map((template) => [template.given.id, template]))
    const byName = Map.groupBy(templates, ({ given, parent }) => `${parent.given.id} ${given.name}`)
    const accounts = [...new Set(templates.map(({ parent }) => parent.given.id))]
    const columns = ['id', 'account_id', 'name', 'language', 'category'] as const
    for await (const row of readRows(tx, 'message_templates', 'account_id', columns, accounts)) {
      const same = byId.get(row.id)
      if (same && (same.given.name !== row.name || same.given.language !== row.language)) {
        const stored = `${row.name} in ${row.language}`
        problems.add(
          `${same.place}.name`,
          `the store has that template as ${stored}, which cannot be changed; choose another id.`,
        )
      }
      for (const { given, place } of byName.get(`${row.account_id} ${row.name}`) ?? []) {
        if (given.id === row.id) continue
        if (given.language === row.language) {
          problems.add(
            `${place}.name`,
            `the store has that name and language in the same account, for template ${row.id}; choose another.`,
          )
        } else if (!byId.has(row.id) && given.category !== row.category) {
          problems.add(
            `${place}.category`,
            `the store has that name with the category ${row.category}; give it the same.`,
          )
        }
      }
    }
  },
  async write(templates, context) {
    const released: { readonly id: string; readonly sha256: string }[] = []
    await upsertNodes(context, 'message_templates', templates, {
      create: ({ given, parent }) => toStored(given, parent.given.id, context.now),
      change: ({ given }, stored) => {
        const changes = toChanges(given, stored, context.now)
        const used = filesOf({ ...stored, ...changes })
        for (const sha256 of filesOf(stored)) if (!used.includes(sha256)) released.push({ id: stored.id, sha256 })
        return changes
      },
      touch: { last_updated_time: context.now },
    })
    await writeNames(templates, context)
    for (const { id, sha256 } of released) await releaseFile(context.tx, context.tools, sha256, headerUse(id))
  },
  export: exportRows({
    table: 'message_templates',
    of: 'account_id',
    toEntries: (templates) =>
      templates.map((template) =>
        withoutGaps<Whole<Given>>({
          id: template.id,
          name: template.name,
          language: template.language,
          category: template.category,
          components: template.components.map(toComponentEntry),
          status: template.status,
          rejected_reason: template.rejected_reason,
          quality_score: template.quality_score,
          parameter_format: template.parameter_format,
          message_send_ttl_seconds: toLifeEntry(template),
        }),
      ),
  }),
})

/** The rules of the chapter, but for the counts and the file of a header. */
function checkRules(given: Given, place: string, problems: Problems): void {
  try {
    readForm(given)
    if ((given.status === 'REJECTED') !== (given.rejected_reason !== undefined)) {
      problems.add(`${place}.rejected_reason`, 'it goes with the status REJECTED, and is required there.')
    }
  } catch (error) {
    if (!(error instanceof GraphError)) throw error
    const argument = String(error.args['argument'])
    problems.add(`${place}.${argument}`, error.message.slice(argument.length + 2))
  }
}

function readForm({ category, components, parameter_format, message_send_ttl_seconds }: Given) {
  const format = readFormat(category, parameter_format)
  return {
    parameter_format: format,
    components: readComponents(components, {
      category,
      parameter_format: format,
      needsHandle: false,
      hasPublicForms: true,
    }).components,
    message_send_ttl_seconds: readLife(category, message_send_ttl_seconds),
  }
}

function toStored(given: Given, account_id: string, now: number): MessageTemplatesTable {
  const { id, name, language, category } = given
  const form = readForm(given)
  return {
    ...{ id, account_id, name, language, category, previous_category: null, status: given.status ?? 'APPROVED' },
    ...{ rejected_reason: given.rejected_reason ?? null, ...form, content: writeContent(name, form.components) },
    ...{ quality_score: given.quality_score ?? 'UNKNOWN', quality_time: now },
    ...{ header_sha256: null, header_type: null, created_time: now, last_updated_time: now },
  }
}

function toChanges(given: Given, stored: MessageTemplatesTable, now: number): Partial<MessageTemplatesTable> {
  const { category, status, quality_score, message_send_ttl_seconds: life } = given
  const { parameter_format, components: read } = readForm({
    ...given,
    parameter_format: given.parameter_format ?? stored.parameter_format,
  })
  const { components, ...header } = keepFiles(read, stored)
  return {
    ...header,
    category,
    ...(category !== stored.category && { previous_category: stored.category }),
    ...{ parameter_format, components, content: writeContent(stored.name, components) },
    message_send_ttl_seconds:
      life === undefined ? keepLife(category, stored.message_send_ttl_seconds) : readLife(category, life),
    ...pickGiven({ status, quality_score }),
    ...(status !== undefined && { rejected_reason: given.rejected_reason ?? null }),
    ...(quality_score !== undefined && quality_score !== stored.quality_score && { quality_time: now }),
  }
}

/** Every template has the row of its name. What was approved when a file said so counts like any approval. */
async function writeNames(templates: readonly TemplateEntry[], context: WriteContext): Promise<void> {
  const isSent = ({ given: { status = 'APPROVED' } }: TemplateEntry) =>
    ['APPROVED', 'PAUSED', 'DISABLED'].includes(status)
  const names = Map.groupBy(templates, ({ given, parent }) => `${parent.given.id} ${given.name}`)
  const items = [...names.values()].flatMap(([first, ...more]) =>
    first
      ? [{ account_id: first.parent.given.id, name: first.given.name, isApproved: [first, ...more].some(isSent) }]
      : [],
  )
  // What is counted for people are templates, not their names.
  const tally = { created: 0, updated: 0, unchanged: 0 }
  await upsertChanged(
    { ...context, tally },
    {
      table: 'template_names',
      key: ['account_id', 'name'],
      keyOf: ({ account_id, name }) => [account_id, name],
      create: ({ account_id, name, isApproved }) => ({
        account_id,
        name,
        was_approved: isApproved,
        deleted_time: null,
      }),
      change: ({ isApproved }, stored) => ({ was_approved: stored.was_approved || isApproved, deleted_time: null }),
    },
    items,
  )
}

/** The stored files that fit the formats of the headers: headers keep them, because a world file names no media. */
function keepFiles(components: readonly TemplateComponent[], stored: MessageTemplatesTable) {
  const { header_sha256, header_type } = stored
  const keepsHeader = header_type !== null && fits(components, header_type)
  const before = cardsOf(stored.components).map(({ file }) => file)
  const files = cardsOf(components).map((card, index) => {
    const file = before[index]
    return file && fits(card.components, file.type) ? file : undefined
  })
  return {
    components: components.map((component) => withFiles(component, files)),
    ...(keepsHeader ? { header_sha256, header_type } : { header_sha256: null, header_type: null }),
  }
}

function fits(components: readonly TemplateComponent[], type: string): boolean {
  const format = components.find((component) => component.type === 'HEADER')?.format
  const isMedia = format === 'IMAGE' || format === 'VIDEO' || format === 'DOCUMENT'
  return isMedia && headerTypes[format].includes(type)
}

/** A life that is the usual one of its category is left out, because not every category takes it as a number. */
function toLifeEntry({ category, message_send_ttl_seconds }: MessageTemplatesTable): number | undefined {
  return message_send_ttl_seconds === readLife(category, undefined)
    ? undefined
    : message_send_ttl_seconds === readLife(category, -1)
      ? -1
      : message_send_ttl_seconds
}

function toComponentEntry(component: TemplateComponent): object {
  const { type, format, text, example, buttons, add_security_recommendation, code_expiration_minutes } = component
  const { cards, limited_time_offer: offer } = component
  return withoutGaps<Whole<TemplateComponent>>({
    type,
    format,
    text,
    add_security_recommendation,
    code_expiration_minutes,
    example: example && toExampleEntry(example),
    buttons: buttons?.map(toButtonEntry),
    cards: cards?.map((card) => ({ components: card.components.map(toComponentEntry) })),
    limited_time_offer: offer && withoutGaps({ text: offer.text, has_expiration: offer.has_expiration }),
  })
}

function toExampleEntry(example: TemplateExample): object {
  const { header_text, header_handle, header_text_named_params, body_text, body_text_named_params } = example
  const inOrder = (named: TemplateExample['body_text_named_params']) =>
    named?.map(({ param_name, example: shown }) => ({ param_name, example: shown }))
  return withoutGaps<Whole<TemplateExample>>({
    header_text,
    header_handle,
    header_text_named_params: inOrder(header_text_named_params),
    body_text,
    body_text_named_params: inOrder(body_text_named_params),
  })
}

function toButtonEntry(button: TemplateButton): object {
  return withoutGaps<Whole<TemplateButton>>({
    type: button.type,
    text: button.text,
    url: button.url,
    phone_number: button.phone_number,
    example: button.example,
    flow_id: button.flow_id,
    flow_name: button.flow_name,
    flow_json: button.flow_json,
    flow_action: button.flow_action,
    navigate_screen: button.navigate_screen,
    otp_type: button.otp_type,
    autofill_text: button.autofill_text,
    zero_tap_terms_accepted: button.zero_tap_terms_accepted,
    supported_apps: button.supported_apps?.map(({ package_name, signature_hash }) => ({
      package_name,
      signature_hash,
    })),
  })
}

/** The files of headers, which a world file does not hold. */
export async function countHeaderFiles(db: Db): Promise<number> {
  const { count } = await db.query
    .selectFrom('file_uses')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('used_by', 'like', `${headerUse('')}%`)
    .executeTakeFirstOrThrow()
  return count
}
