import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { defineRead } from '../../graph/define.ts'
import { newestFirst } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { listPublicActivities } from './public-activities.ts'
import { activityListSchema, activitySchema } from './schemas.ts'
import { listActivities } from './store.ts'

const activityFields = Object.keys(activitySchema.properties)

const activityList = newestFirst(100, 'time')

export const auditChapter: Chapter = {
  name: 'audit',
  title: 'Audit',
  rows: auditOperations,
}

function auditOperations({ habits }: Vocabulary): NewOperation[] {
  if (habits.public_activities) return [listPublicActivities()]
  return [
    defineRead({
      name: 'audit.list_activities',
      method: 'GET',
      path: '/{Version}/{Account-ID}/activities',
      sentence: 'Lists the writes to an account and its objects, newest first.',
      permission: 'management',
      fields: { available: activityFields, defaults: activityFields, mode: 'replace' },
      list: activityList,
      input: Type.Object({}),
      output: activityListSchema,
      examples: {
        input: { limit: 1 },
        output: {
          data: [
            {
              id: '1042',
              time: '2026-06-01T12:00:00.000Z',
              operation: 'account.update',
              node_id: '1000000000000001',
              node_kind: 'account',
              actor_app_id: '3000000000000001',
              actor_business_id: '2000000000000001',
              actor_token_id: 't0011223344556677',
              remote_address: '127.0.0.1',
              trace: '4bf92f3577b34da6a3ce929d0e0e4736',
            },
          ],
          paging: { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } },
        },
      },
      async run({ db, node, page, project }) {
        return page.fetch(
          (range) => listActivities(db, node, range),
          (row) => project({ ...row, id: String(row.id), time: new Date(row.time).toISOString() }),
        )
      },
    }),
  ]
}
