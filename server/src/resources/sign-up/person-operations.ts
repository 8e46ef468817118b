import { Type } from 'typebox'
import { endAfter, hour, parseDuration } from '../../base/time/duration.ts'
import { defineOperatorWrite } from '../../graph/define.ts'
import { badArgument } from '../../graph/define-error.ts'
import { notFound } from '../../graph/errors.ts'
import type { NewRow } from '../../graph/operation.ts'
import { Recorded } from '../../graph/result.ts'
import { idSchema } from '../../graph/schemas.ts'
import { exampleTime, notADuration, writeTimestamp } from '../operators/public.ts'
import { personElsewhere } from './dialog/errors.ts'
import { insertPersonLink, lockSeenPerson, seesAllOf } from './person-links.ts'

/** Who may act for a business, as operators let them in. */
export function personOperations(): NewRow[] {
  return [
    defineOperatorWrite({
      name: 'operator.create_user_link',
      method: 'POST',
      path: '/operator/businesses/{business_id}/users/{user_id}/link',
      sentence:
        'Creates a code by which a person of a business signs in to the dialog of the sign-up, once; it is only in this response.',
      returnsSecret: true,
      input: Type.Object({
        business_id: idSchema({ description: 'The id of the business.' }),
        user_id: idSchema({ description: 'The id of the person.' }),
        expires: Type.Optional(
          Type.String({ maxLength: 20, description: 'How long the code may be used; 1h when left out.' }),
        ),
      }),
      output: Type.Object({
        code: Type.String({ description: 'What the person types into the dialog. It is shown once.' }),
        expires_time: Type.String({ format: 'date-time', description: 'Until when it may be used.' }),
      }),
      examples: {
        input: { business_id: '2000000000000001', user_id: '2300000000000001', expires: '1h' },
        output: { code: 'Y2hvc2VuIGF0IHJhbmRvbSwgMzIgYnl0ZXMgbG9uZyE', expires_time: exampleTime },
      },
      async run({ db, clock, random, limits }, { business_id, user_id, expires }) {
        const now = clock.now()
        const lifetime = expires === undefined ? hour : parseDuration(expires)
        const expires_time = endAfter(now, lifetime || undefined)
        if (expires_time === undefined) throw badArgument(notADuration('expires'))
        const person = await lockSeenPerson(db, limits, business_id, user_id)
        if (!person) throw notFound()
        if (!(await seesAllOf(db, limits, person.email))) throw personElsewhere()
        const code = await insertPersonLink(db, random, now, { user_id, expires_time })
        const response = { code, expires_time: writeTimestamp(expires_time) }
        return new Recorded(response, { id: user_id, kind: 'business_user', business_id })
      },
    }),
  ]
}
