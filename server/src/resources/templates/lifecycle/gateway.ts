import { Type } from 'typebox'
import { defineGatewayRead, defineGatewayWrite } from '../../../graph/define.ts'
import { notFound } from '../../../graph/errors.ts'
import type { ListOptions } from '../../../graph/lists/paging.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import { successSchema } from '../../../graph/schemas.ts'
import { exampleTemplate } from '../examples.ts'
import { toTemplate } from '../rules.ts'
import { makeGatewayTemplateListSchema, reviewSchema, templateFields, templateStatuses } from '../schemas.ts'
import { listTemplatesForGateway } from '../store.ts'
import { checkReviewForm, reviewTemplate } from './review.ts'

const templateList: ListOptions = {
  maxLimit: 1000,
  idColumn: 'id',
  sortable: false,
  defaultSort: 'created_time.desc',
  sorts: { 'created_time.desc': { column: 'created_time', direction: 'desc' } },
}

/** The review of templates, by whoever runs the network. */
export function templateGatewayOperations(hasPublicForms: boolean): NewOperation[] {
  return [
    defineGatewayRead({
      name: 'gateway.list_templates',
      method: 'GET',
      path: '/gateway/templates',
      sentence:
        'Lists message templates of every account, newest first; the status PENDING selects templates that wait for their review.',
      list: templateList,
      input: Type.Object({
        status: Type.Optional(Type.Enum(templateStatuses, { description: 'Only those in this status.' })),
      }),
      output: makeGatewayTemplateListSchema(hasPublicForms),
      examples: {
        input: { status: 'APPROVED', limit: 1 },
        output: {
          data: [{ account_id: '1000000000000001', ...exampleTemplate }],
          paging: { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } },
        },
      },
      async run({ db, caller, page }, { status }) {
        return page.fetch(
          (range) => listTemplatesForGateway(db, caller.gateway_accounts, status, range),
          (row) => withoutGaps({ account_id: row.account_id, ...toTemplate(row) }),
        )
      },
    }),
    defineGatewayWrite({
      name: 'gateway.review_template',
      method: 'POST',
      path: '/gateway/templates/{template_id}',
      sentence: 'Approves, rejects, pauses or disables a message template, or sets its quality score or category.',
      input: reviewSchema,
      output: successSchema,
      examples: {
        input: { template_id: '5100000000000002', status: 'PAUSED', quality_score: 'RED' },
        output: { success: true },
      },
      async run({ db, clock, sees }, { template_id, ...review }) {
        checkReviewForm(review)
        if (!(await reviewTemplate(db, clock, template_id, review, sees))) throw notFound()
        return { success: true }
      },
    }),
  ]
}

/** Without the members that have no value, like a template that a business reads. */
function withoutGaps(template: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown = ['account_id', ...templateFields].filter((name) => template[name] !== null)
  return Object.fromEntries(shown.map((name) => [name, template[name]]))
}
