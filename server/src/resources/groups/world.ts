import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { pickGiven, withoutGaps } from '../../world-part/entries.ts'
import { defineWorldPart, exportValue } from '../../world-part/part.ts'
import { readRows, upsertNodes } from '../../world-part/rows.ts'
import { idSchema } from '../../world-part/schemas.ts'
import { numberEntries } from '../phone-numbers/world.ts'
import { findSubjectProblems, groupDefaults } from './rules.ts'
import { groupMembers } from './schemas.ts'

export const groupEntries = defineWorldPart({
  key: 'groups',
  form: 'list',
  under: numberEntries,
  schema: Type.Object({ id: idSchema, ...groupMembers }),
  nodes: [{ kind: 'group', key: 'id' }],
  checkFile: (problems) => {
    return ({ given, place }) => problems.addAll(place, findSubjectProblems(given.subject))
  },
  async checkStore(groups, { tx, problems }) {
    const byId = new Map(groups.map((group) => [group.given.id, group]))
    for await (const row of readRows(tx, 'groups', 'id', ['id', 'phone_number_id'], [...byId.keys()])) {
      const group = byId.get(row.id)
      if (!group || group.parent.given.id === row.phone_number_id) continue
      problems.add(
        `${group.place}.id`,
        `the store has it under number ${row.phone_number_id}; leave it there, or choose another id.`,
      )
    }
  },
  write: (groups, context) =>
    upsertNodes(context, 'groups', groups, {
      create: ({ given: { id, subject, description, join_approval_mode }, parent }) => ({
        ...groupDefaults,
        ...pickGiven({ description, join_approval_mode }),
        id,
        subject: subject.trim(),
        phone_number_id: parent.given.id,
        created_time: context.now,
      }),
      change: ({ given: { subject, description, join_approval_mode } }) =>
        pickGiven({ subject: subject.trim(), description, join_approval_mode }),
    }),
  export: exportValue({
    table: 'groups',
    of: 'phone_number_id',
    order: ['id'],
    async toValue(groups, db) {
      const [first] = groups
      if (!first) return undefined
      const participants = await listParticipantsOfNumber(db, first.phone_number_id)
      return groups.map(({ id, subject, description, join_approval_mode }) =>
        withoutGaps({
          id,
          subject,
          description,
          join_approval_mode,
          participants: participants.get(id)?.map(({ user_wa_id, name }) => withoutGaps({ wa_id: user_wa_id, name })),
        }),
      )
    },
  }),
})

/** Who is in each group of a number. The users' chapter writes them, as a part of the entries of groups. */
async function listParticipantsOfNumber({ query }: Db, phone_number_id: string) {
  const rows = await query
    .selectFrom('group_participants')
    .selectAll()
    .where('group_id', 'in', ({ selectFrom }) =>
      selectFrom('groups').select('id').where('phone_number_id', '=', phone_number_id),
    )
    .orderBy('user_wa_id')
    .execute()
  return Map.groupBy(rows, ({ group_id }) => group_id)
}
