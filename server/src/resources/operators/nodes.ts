import { Type } from 'typebox'
import { defineOperatorRead } from '../../graph/define.ts'
import { badArgument } from '../../graph/define-error.ts'
import { argumentWrong } from '../../graph/errors.ts'
import { type ListOptions, pagingSchema } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { idSchema } from '../../graph/schemas.ts'
import { exampleCursors } from './examples.ts'
import { indexedBy, listNodesForOperators } from './node-store.ts'

const nodeList: ListOptions = {
  maxLimit: 1000,
  idColumn: 'id',
  sortable: false,
  defaultSort: 'id.asc',
  sorts: { 'id.asc': { column: 'id', direction: 'asc' } },
}

const nodeSchema = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  name: Type.Optional(Type.String({ description: 'Absent for a kind that has none.' })),
  business_id: Type.String(),
  account_id: Type.Optional(Type.String({ description: 'Absent for what belongs to no account.' })),
})

export function nodeOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.list_nodes',
      method: 'GET',
      path: '/operator/nodes',
      sentence: 'Lists the nodes of every tenant, or finds some by a part of their name, number or id.',
      list: nodeList,
      input: Type.Object({
        kind: Type.Optional(Type.String({ maxLength: 100, description: 'Only nodes of this kind.' })),
        q: Type.Optional(
          Type.String({ minLength: 1, maxLength: 200, description: 'A part of a name, number or id, in any case.' }),
        ),
        business_id: Type.Optional(idSchema({ description: 'Only what belongs to this business.' })),
        account_id: Type.Optional(idSchema({ description: 'Only what belongs to this account.' })),
      }),
      output: Type.Object({ data: Type.Array(nodeSchema), paging: pagingSchema }),
      examples: {
        input: { kind: 'phone_number', q: 'shrub', limit: 1 },
        output: {
          data: [
            {
              id: '4000000000000001',
              kind: 'phone_number',
              name: 'Lucky Shrub',
              business_id: '2000000000000001',
              account_id: '1000000000000001',
            },
          ],
          paging: exampleCursors,
        },
      },
      async run({ db, limits, page, ports }, { kind, q, business_id, account_id }) {
        const filter = { kind, q, business_id, account_id }
        const { nodeKinds } = ports.service
        if (kind !== undefined && !Object.hasOwn(nodeKinds, kind)) {
          throw badArgument(argumentWrong('kind', { expected: `one of ${Object.keys(nodeKinds).join(', ')}` }))
        }
        return page.fetch(
          (range) => listNodesForOperators(db, nodeKinds, limits, filter, range),
          ({ id, kind, name, business_id, account_id }) => ({
            id,
            kind,
            ...(name !== null && { name }),
            business_id,
            ...(account_id !== null && { account_id }),
          }),
          { db, table: 'nodes', by: indexedBy(limits, filter) },
        )
      },
    }),
  ]
}
