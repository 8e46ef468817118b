import { type Static, Type } from 'typebox'
import { endAfter, parseDuration } from '../../../base/time/duration.ts'
import {
  findAppSecretForOperators,
  rotateSecretForOperators,
  type StoredSecretFacts,
} from '../../../delivery/store/signing-secrets.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import { defineOperatorRead, defineOperatorWrite } from '../../../graph/define.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { notFound } from '../../../graph/errors.ts'
import { writeTimestamp } from '../../../graph/input/timestamps.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import { Recorded } from '../../../graph/result.ts'
import { idSchema } from '../../../graph/schemas.ts'
import { notADuration } from '../errors.ts'
import { exampleTime } from '../examples.ts'

const defaultOverlap = '24h'

const factsSchema = Type.Object({
  app_id: Type.String(),
  created_time: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'When the secret was made; null: before that was recorded.',
  }),
  fingerprint: Type.String({ description: 'Distinguishes secrets without revealing them.' }),
  previous: Type.Union(
    [
      Type.Object({
        fingerprint: Type.String(),
        until: Type.String({ format: 'date-time', description: 'Until when webhooks are signed with it as well.' }),
      }),
      Type.Null(),
    ],
    { description: 'The secret before, while it overlaps; null: none does.' },
  ),
})

const exampleFacts = {
  app_id: '3000000000000001',
  created_time: exampleTime,
  fingerprint: '9f86d081884c',
  previous: { fingerprint: '60303ae22b99', until: '2026-06-02T12:00:00.000Z' },
}

/** The secrets that sign the webhooks of apps. */
export function appSecretOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.read_app_secret',
      method: 'GET',
      path: '/operator/apps/{app_id}/secret',
      sentence:
        "Reads when an app's secret was created, and until when the earlier secret is valid, without the secrets.",
      input: Type.Object({ app_id: idSchema({ description: 'The id of the app.' }) }),
      output: factsSchema,
      examples: { input: { app_id: '3000000000000001' }, output: exampleFacts },
      async run({ db, clock, limits }, { app_id }) {
        const found = await findAppSecretForOperators(db, app_id, clock.now())
        if (!found || !seesBusiness(limits, found.business_id)) throw notFound()
        return showFacts(found)
      },
    }),
    defineOperatorWrite({
      name: 'operator.rotate_app_secret',
      method: 'POST',
      path: '/operator/apps/{app_id}/secret',
      sentence:
        'Creates a new secret of an app, which is only in this response; the old secret stays valid for a while.',
      returnsSecret: true,
      input: Type.Object({
        app_id: idSchema({ description: 'The id of the app.' }),
        overlap: Type.Optional(
          Type.String({
            maxLength: 20,
            description: `How long webhooks are signed with the old secret as well; ${defaultOverlap} when left out.`,
          }),
        ),
      }),
      output: Type.Object({
        secret: Type.String({ description: 'The new one, shown this once.' }),
        ...factsSchema.properties,
      }),
      examples: {
        input: { app_id: '3000000000000001', overlap: '24h' },
        output: { secret: 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c', ...exampleFacts },
      },
      async run({ db, clock, random, limits }, { app_id, overlap: text = defaultOverlap }) {
        const overlap = parseDuration(text)
        if (overlap === undefined || endAfter(clock.now(), overlap) === undefined)
          throw badArgument(notADuration('overlap'))
        const app = await findAppSecretForOperators(db, app_id, clock.now())
        if (!app || !seesBusiness(limits, app.business_id)) throw notFound()
        const secret = await rotateSecretForOperators(db, clock, random, { app_id, overlap })
        const found = await findAppSecretForOperators(db, app_id, clock.now())
        if (secret === undefined || !found) throw notFound()
        const response = { secret, ...showFacts(found) }
        return new Recorded(response, { id: app_id, kind: 'application', business_id: app.business_id })
      },
    }),
  ]
}

/** An app belongs to a business, and to no account. */
function seesBusiness(limits: OperatorLimits | undefined, business_id: string): boolean {
  return !limits || limits.businesses?.has(business_id) === true
}

function showFacts({ app_id, secret_time, fingerprint, previous }: StoredSecretFacts): Static<typeof factsSchema> {
  return {
    app_id,
    created_time: secret_time === null ? null : writeTimestamp(secret_time),
    fingerprint,
    previous: previous && { fingerprint: previous.fingerprint, until: writeTimestamp(previous.until) },
  }
}
