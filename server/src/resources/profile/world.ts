import { Type } from 'typebox'
import { toEntry } from '../../world-part/entries.ts'
import { defineWorldPart, exportValue } from '../../world-part/part.ts'
import { upsertOfNumbers } from '../../world-part/rows.ts'
import { numberEntries } from '../phone-numbers/world.ts'
import { emptyProfile, readProfileUpdate } from './rules.ts'
import { profileMembers, websiteSchema } from './schemas.ts'

const schema = Type.Object({ ...profileMembers, websites: Type.Optional(Type.Array(websiteSchema)) })

export const profileEntry = defineWorldPart({
  key: 'profile',
  form: 'value',
  under: numberEntries,
  schema,
  write: (profiles, context) =>
    upsertOfNumbers(context, 'business_profiles', profiles, {
      create: ({ given, parent }) => ({
        phone_number_id: parent.given.id,
        ...emptyProfile,
        ...readProfileUpdate(given),
      }),
      change: ({ given }) => readProfileUpdate(given),
    }),
  export: exportValue({
    table: 'business_profiles',
    of: 'phone_number_id',
    toValue: ([profile]) => profile && toEntry(schema, profile, {}),
  }),
})
