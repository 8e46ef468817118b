import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import type { Context } from '../../graph/context.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { ListOptions } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { successSchema } from '../../graph/schemas.ts'
import { findAccount } from '../account/store.ts'
import { templateDownloads } from './download.ts'
import { exampleTemplate } from './examples.ts'
import { createTemplate, maxNames } from './lifecycle/creation.ts'
import { editTemplate } from './lifecycle/edit.ts'
import { raiseStatusEvent } from './lifecycle/events.ts'
import { templateGatewayOperations } from './lifecycle/gateway.ts'
import { makeReviewHandler, reviewTimer } from './lifecycle/review.ts'
import { readFilter, readSummary, type TemplateFilter, toTemplate } from './rules.ts'
import {
  createdTemplateSchema,
  makeNewTemplateSchema,
  makeTemplateEditSchema,
  makeTemplateListSchema,
  makeTemplateSchema,
  templateDeletionSchema,
  templateFields,
  templateQuerySchema,
} from './schemas.ts'
import {
  countNames,
  countTemplates,
  deleteTemplates,
  findTemplate,
  listLanguages,
  listTemplates,
  lockTemplates,
  type Template,
} from './store.ts'
import { countHeaderFiles, templateEntries } from './world.ts'

const templateList: ListOptions = {
  maxLimit: 1000,
  idColumn: 'id',
  sortable: false,
  defaultSort: 'created_time.desc',
  sorts: { 'created_time.desc': { column: 'created_time', direction: 'desc' } },
}

declare module '../../graph/nodes.ts' {
  interface NodeKinds {
    template: true
  }
}

export const templatesChapter: Chapter = {
  name: 'templates',
  title: 'Message templates',
  nodes: {
    template: {
      placeholder: 'Template-ID',
      called: 'a template',
      example: '5100000000000001',
      named: { table: 'message_templates', columns: ['name'] },
    },
  },
  rows({ habits }) {
    const hasPublicForms = habits.more_message_forms
    return [
      ...templateOperations(hasPublicForms),
      ...templateGatewayOperations(hasPublicForms),
      ...templateDownloads(hasPublicForms),
    ]
  },
  timers: ({ clock }) => ({ [reviewTimer]: makeReviewHandler({ clock }) }),
  world: [templateEntries],
  leftOutOfWorld: { 'files of template headers': countHeaderFiles },
}

/** `hasPublicForms`: whether the forms of the public platform are taken besides those of the specification. */
function templateOperations(hasPublicForms: boolean): NewOperation[] {
  const fields = { available: templateFields, defaults: templateFields, mode: 'replace' } as const
  return [
    defineRead({
      name: 'templates.list',
      method: 'GET',
      path: '/{Version}/{Account-ID}/message_templates',
      sentence: 'Lists the message templates of an account, newest first.',
      permission: 'management',
      fields,
      list: templateList,
      input: templateQuerySchema,
      output: makeTemplateListSchema(hasPublicForms),
      examples: {
        input: { status: 'APPROVED', summary: 'total_count', limit: 1 },
        output: {
          data: [exampleTemplate],
          paging: { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } },
          summary: { total_count: 1 },
        },
      },
      async run(context, query) {
        const { db, node, page, project } = context
        const filter = readFilter(query)
        const asked = readSummary(query.summary)
        const list = await page.fetch(
          (range) => listTemplates(db, node, filter, range),
          (row) => project(show(context, row)),
        )
        return asked.length === 0 ? list : { ...list, summary: await summarize(context, filter, asked) }
      },
    }),
    defineWrite({
      name: 'templates.create',
      method: 'POST',
      path: '/{Version}/{Account-ID}/message_templates',
      sentence: 'Creates a message template, which can be sent once it is approved.',
      permission: 'management',
      rateClass: 'template_creation',
      input: makeNewTemplateSchema(hasPublicForms),
      output: createdTemplateSchema,
      examples: {
        input: {
          name: 'order_shipped',
          language: 'en_US',
          category: 'UTILITY',
          components: [
            {
              type: 'BODY',
              text: 'Hello {{1}}, your order {{2}} has left our nursery today.',
              example: { body_text: [['Ada', 'A7']] },
            },
            { type: 'FOOTER', text: 'Lucky Shrub' },
            { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Thank you' }] },
          ],
        },
        output: { id: '5100000000000009', status: 'PENDING', category: 'UTILITY' },
      },
      async run(context, input) {
        const { db, node, settings } = context
        const { id, status, category } = await createTemplate(
          db,
          giverOf(context),
          settings,
          node,
          input,
          hasPublicForms,
        )
        return { id, status, category }
      },
    }),
    defineWrite({
      name: 'templates.delete_by_name',
      method: 'DELETE',
      path: '/{Version}/{Account-ID}/message_templates',
      sentence: 'Deletes the templates of a name in every language, or the one that hsm_id names.',
      permission: 'management',
      input: templateDeletionSchema,
      output: successSchema,
      examples: { input: { name: 'closing_sale' }, output: { success: true } },
      async run({ db, node, clock, random }, { name, hsm_id }) {
        lockTemplates(db, node.id)
        const languages = await listLanguages(db, node.id, name)
        const templates = hsm_id === undefined ? languages : languages.filter(({ id }) => id === hsm_id)
        if (templates.length === 0) throw notFound()
        await deleteTemplates(db, { clock, random }, templates)
        for (const template of templates) await raiseStatusEvent(db, clock, template, 'DELETED')
        return { success: true }
      },
    }),
    defineRead({
      name: 'templates.read',
      method: 'GET',
      path: '/{Version}/{Template-ID}',
      sentence: 'Reads a message template.',
      permission: 'management',
      fields,
      input: Type.Object({}),
      output: makeTemplateSchema(hasPublicForms),
      examples: { output: exampleTemplate },
      async run(context) {
        return context.project(show(context, await findTemplate(context.db, context.node)))
      },
    }),
    defineWrite({
      name: 'templates.edit',
      method: 'POST',
      path: '/{Version}/{Template-ID}',
      sentence: 'Changes a message template; its new content is reviewed again.',
      permission: 'management',
      input: makeTemplateEditSchema(hasPublicForms),
      output: successSchema,
      examples: { input: { message_send_ttl_seconds: 3600 }, output: { success: true } },
      async run(context, input) {
        const { db, node, settings } = context
        lockTemplates(db, node.account_id ?? '')
        await editTemplate(db, giverOf(context), settings, await findTemplate(db, node), input, hasPublicForms)
        return { success: true }
      },
    }),
    defineWrite({
      name: 'templates.delete',
      method: 'DELETE',
      path: '/{Version}/{Template-ID}',
      sentence: 'Deletes one message template.',
      permission: 'management',
      input: Type.Object({}),
      output: successSchema,
      examples: {
        output: { success: true },
        // One that nothing else is shown on.
        node: '5100000000000004',
      },
      async run({ db, node, clock, random }) {
        lockTemplates(db, node.account_id ?? '')
        const template = await findTemplate(db, node)
        await deleteTemplates(db, { clock, random }, [template])
        await raiseStatusEvent(db, clock, template, 'DELETED')
        return { success: true }
      },
    }),
  ]
}

function giverOf({ clock, random, caller }: Context) {
  return { clock, random, business_id: caller.business_id }
}

/** A template as a business reads it: with addresses of the files that its headers have. */
function show({ sealLink }: Context, template: Template) {
  return toTemplate(template, (path) => sealLink(path))
}

async function summarize({ db, node, settings }: Context, filter: TemplateFilter, asked: readonly string[]) {
  const has = (name: string) => asked.includes(name)
  return {
    ...(has('total_count') && { total_count: await countTemplates(db, node, filter) }),
    ...(has('message_template_count') && { message_template_count: await countNames(db, node.id) }),
    ...(has('message_template_limit') && {
      message_template_limit: maxNames(await findAccount(db, node), settings),
    }),
    ...(has('are_translations_complete') && { are_translations_complete: true }),
  }
}
