import { Type } from 'typebox'
import { defineRead, defineWrite } from '../../../graph/define.ts'
import { type ListOptions, pagingSchema } from '../../../graph/lists/paging.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import { productName } from '../../../graph/schemas.ts'
import type { Vocabulary } from '../../../graph/vocabulary.ts'
import { type BlockOutcome, blockUsers, listBlocked, unblockUsers } from './blocks.ts'

const path = '/{Version}/{Phone-Number-ID}/block_users'
const exampleUser = '16505551234'

const blockList: ListOptions = {
  maxLimit: 100,
  idColumn: 'user_wa_id',
  sorts: { newest: { column: 'created_time', direction: 'desc' } },
  defaultSort: 'newest',
  sortable: false,
}

export function blockOperations(vocabulary: Vocabulary): NewOperation[] {
  const product = productName(vocabulary)
  const input = Type.Object({
    messaging_product: product,
    block_users: Type.Array(
      Type.Object({ user: Type.String({ maxLength: 1000, description: "The user's phone number." }) }),
      { minItems: 1, maxItems: 1000, description: 'The users.' },
    ),
  })
  const users = Type.Array(Type.Object({ input: Type.String(), wa_id: Type.String() }))
  const problem = Type.Object({
    code: Type.Integer(),
    message: Type.String(),
    error_data: Type.Object({ details: Type.String() }),
  })
  const failed_users = Type.Optional(Type.Array(Type.Object({ input: Type.String(), errors: Type.Array(problem) })))
  const example = { messaging_product: vocabulary.product, block_users: [{ user: exampleUser }] }
  const listed = [{ input: exampleUser, wa_id: exampleUser }]

  return [
    defineRead({
      name: 'messages.list_blocked_users',
      method: 'GET',
      path,
      sentence: 'Lists the users whom a phone number has blocked, the latest first.',
      permission: 'messaging',
      list: blockList,
      input: Type.Object({}),
      output: Type.Object({
        data: Type.Array(Type.Object({ messaging_product: product, wa_id: Type.String() })),
        paging: pagingSchema,
      }),
      examples: {
        output: { data: [{ messaging_product: vocabulary.product, wa_id: exampleUser }], paging: { cursors: {} } },
      },
      async run({ db, node, page }) {
        return page.fetch(
          (range) => listBlocked(db, node, range),
          ({ user_wa_id }) => ({ messaging_product: vocabulary.product, wa_id: user_wa_id }),
        )
      },
    }),
    defineWrite({
      name: 'messages.block_users',
      method: 'POST',
      path,
      sentence:
        'Blocks users whose service window is open: the number receives nothing from them and cannot write to them.',
      permission: 'messaging',
      input,
      output: Type.Object({
        messaging_product: product,
        block_users: Type.Object({ added_users: users, failed_users }),
      }),
      examples: {
        input: example,
        output: { messaging_product: vocabulary.product, block_users: { added_users: listed } },
      },
      async run({ db, node, clock, settings }, { block_users }) {
        const given = block_users.map(({ user }) => user)
        const outcome = await blockUsers(db, node, settings, given, clock.now())
        const failed = describeFailed(outcome)
        return { messaging_product: vocabulary.product, block_users: { added_users: outcome.done, ...failed } }
      },
    }),
    defineWrite({
      name: 'messages.unblock_users',
      method: 'DELETE',
      path,
      sentence: 'Unblocks users.',
      permission: 'messaging',
      input,
      output: Type.Object({
        messaging_product: product,
        block_users: Type.Object({ removed_users: users, failed_users }),
      }),
      examples: {
        input: example,
        output: { messaging_product: vocabulary.product, block_users: { removed_users: listed } },
      },
      async run({ db, node }, { block_users }) {
        const outcome = await unblockUsers(
          db,
          node,
          block_users.map(({ user }) => user),
        )
        const failed = describeFailed(outcome)
        return { messaging_product: vocabulary.product, block_users: { removed_users: outcome.done, ...failed } }
      },
    }),
  ]
}

function describeFailed({ failed }: BlockOutcome) {
  if (failed.length === 0) return {}
  return {
    failed_users: failed.map(({ input, error: { code, message } }) => ({
      input,
      errors: [{ code, message, error_data: { details: message } }],
    })),
  }
}
