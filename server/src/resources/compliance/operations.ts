import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { successSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { checkCompliance, toStoredCompliance } from './rules.ts'
import { listComplianceFields, makeComplianceInputSchema, makeComplianceListSchema } from './schemas.ts'
import { findCompliance, replaceCompliance } from './store.ts'
import { complianceEntry } from './world.ts'

export const complianceChapter: Chapter = {
  name: 'compliance',
  title: 'Compliance',
  rows: complianceOperations,
  world: [complianceEntry],
}

function complianceOperations(vocabulary: Vocabulary): NewOperation[] {
  const fields = listComplianceFields(vocabulary)
  const example = {
    messaging_product: vocabulary.product,
    entity_name: 'Lucky Shrub',
    entity_type: 'PARTNERSHIP',
    is_registered: true,
    grievance_officer_details: {
      name: 'Chandra P.',
      email: 'officer@luckyshrub.example',
      mobile_number: '+91 98765 43210',
    },
    customer_care_details: { email: 'care@luckyshrub.example', landline_number: '+91 22 1234 5678' },
  }
  return [
    defineRead({
      name: 'compliance.read',
      method: 'GET',
      path: '/{Version}/{Phone-Number-ID}/business_compliance_info',
      sentence: 'Reads who is responsible for the business behind a phone number.',
      permission: 'management',
      fields: { available: fields, defaults: fields, mode: 'replace' },
      input: Type.Object({}),
      output: makeComplianceListSchema(vocabulary),
      examples: { output: { data: [{ whatsapp_business_account_id: '1000000000000001', ...example }] } },
      async run({ db, node, project }) {
        const info = await findCompliance(db, node)
        const shown = project({ messaging_product: vocabulary.product, ...info })
        return { data: [{ whatsapp_business_account_id: node.account_id, ...shown }] }
      },
    }),
    defineWrite({
      name: 'compliance.set',
      method: 'POST',
      path: '/{Version}/{Phone-Number-ID}/business_compliance_info',
      sentence: 'Sets who is responsible for the business behind a phone number, and replaces the earlier record.',
      permission: 'management',
      input: makeComplianceInputSchema(vocabulary),
      output: successSchema,
      examples: { input: example, output: { success: true } },
      async run({ db, node }, input) {
        checkCompliance(input)
        await replaceCompliance(db, node, toStoredCompliance(input))
        return { success: true }
      },
    }),
  ]
}
