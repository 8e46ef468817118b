import { Type } from 'typebox'
import { pickGiven, toEntry } from '../../world-part/entries.ts'
import { defineWorldPart, exportRows } from '../../world-part/part.ts'
import { Repeats } from '../../world-part/problems.ts'
import { upsertChanged } from '../../world-part/rows.ts'
import { idSchema } from '../../world-part/schemas.ts'
import { callPermissionStatuses, expirationTimeSchema, userWaIdSchema } from './schemas.ts'

const schema = Type.Object({
  phone_number_id: idSchema,
  user_wa_id: userWaIdSchema,
  status: Type.Enum(callPermissionStatuses),
  expiration_time: Type.Optional(expirationTimeSchema),
})

/** The call permissions that users gave a number. */
export const permissionEntries = defineWorldPart({
  key: 'call_permissions',
  form: 'list',
  schema,
  *references({ given, place }) {
    yield { place: `${place}.phone_number_id`, id: given.phone_number_id, kind: 'phone_number' }
  },
  checkFile(problems) {
    const pairs = new Repeats(problems)
    return ({ given, place }) => {
      pairs.note(`${given.phone_number_id} ${given.user_wa_id}`, place, 'that phone number and user')
    }
  },
  write: (permissions, context) =>
    upsertChanged(
      context,
      {
        table: 'call_permissions',
        key: ['phone_number_id', 'user_wa_id'],
        keyOf: ({ given }) => [given.phone_number_id, given.user_wa_id],
        nodeOf: ({ given }) => given.phone_number_id,
        create: ({ given: { phone_number_id, user_wa_id, status, expiration_time = null } }) => ({
          phone_number_id,
          user_wa_id,
          status,
          expiration_time,
        }),
        change: ({ given: { status, expiration_time } }) => pickGiven({ status, expiration_time }),
      },
      permissions,
    ),
  export: exportRows({
    table: 'call_permissions',
    key: ['phone_number_id', 'user_wa_id'],
    toEntries: (permissions) => permissions.map((permission) => toEntry(schema, permission, {})),
  }),
})
