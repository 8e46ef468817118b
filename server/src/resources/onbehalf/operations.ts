import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { defineRead } from '../../graph/define.ts'
import { newestFirst, pagingSchema } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { exampleRequest, operatorOperations, toRequest } from './operator-operations.ts'
import { onbehalfRequestSchema } from './schemas.ts'
import { listWaitingRequests } from './store.ts'
import { onbehalfRequestEntries } from './world.ts'

declare module '../../graph/nodes.ts' {
  interface NodeKinds {
    onbehalf_request: true
  }
}

/** Businesses ask to act on behalf of an account's owner, and an operator answers for the owner. */
export const onbehalfChapter: Chapter = {
  name: 'onbehalf',
  title: 'Requests to act on behalf of an owner',
  nodes: { onbehalf_request: { called: 'a request to act on behalf of an owner' } },
  rows: () => [...onbehalfOperations(), ...operatorOperations()],
  world: [onbehalfRequestEntries],
}

const fields = Object.keys(onbehalfRequestSchema.properties)

function onbehalfOperations(): NewOperation[] {
  return [
    defineRead({
      name: 'onbehalf.list',
      method: 'GET',
      path: '/{Version}/{Account-ID}/in_progress_onbehalf_request',
      sentence:
        "Lists the requests to act on behalf of an account's owner that wait for an answer, newest first: all of them to the owner, to others their own.",
      permission: 'management',
      fields: { available: fields, defaults: fields, mode: 'replace' },
      list: newestFirst(100),
      input: Type.Object({}),
      output: Type.Object({ data: Type.Array(onbehalfRequestSchema), paging: pagingSchema }),
      examples: {
        input: { limit: 1 },
        output: {
          data: [exampleRequest],
          paging: { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } },
        },
      },
      async run({ db, node, caller, page, project }) {
        return page.fetch(
          (range) => listWaitingRequests(db, node, caller, range),
          (row) => project(toRequest(row)),
        )
      },
    }),
  ]
}
