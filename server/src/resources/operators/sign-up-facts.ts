import { type Static, Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { findRedirectProblem } from '../../egress/callback-url.ts'
import type { OperatorLimits } from '../../graph/context.ts'
import { defineOperatorRead, defineOperatorWrite } from '../../graph/define.ts'
import { badArgument } from '../../graph/define-error.ts'
import { notFound } from '../../graph/errors.ts'
import { writeTimestamp } from '../../graph/input/timestamps.ts'
import { newestFirst, pagingSchema } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { Recorded } from '../../graph/result.ts'
import { idSchema } from '../../graph/schemas.ts'
import { redirectUrisSchema } from '../webhooks/schemas.ts'
import { noAppChange } from './errors.ts'
import { exampleCursors, exampleTime } from './examples.ts'
import {
  findAppForOperators,
  findBusinessForOperators,
  listBusinessUsersForOperators,
  updateAppForOperators,
} from './sign-up-store.ts'

const appSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  business_id: Type.String(),
  redirect_uris: Type.Array(Type.String(), {
    description:
      'Where a browser may be sent back to with a code of the sign-up; none: no business can connect itself.',
  }),
  require_appsecret_proof: Type.Boolean({
    description: 'Whether requests with a token of the app must prove that they know its secret.',
  }),
})

const exampleApp: Static<typeof appSchema> = {
  id: '3000000000000001',
  name: 'Shrub CRM',
  business_id: '2000000000000001',
  redirect_uris: ['https://crm.example/connected'],
  require_appsecret_proof: false,
}

const businessUserSchema = Type.Object({
  id: Type.String(),
  business_id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  created_time: Type.String({ format: 'date-time' }),
})

const exampleUser: Static<typeof businessUserSchema> = {
  id: '2300000000000001',
  business_id: '2000000000000001',
  name: 'Ada Shrub',
  email: 'ada@lucky-shrub.example',
  created_time: exampleTime,
}

/** What decides who can connect what: where an app may be returned to, and who may act for a business. */
export function signUpFactOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.read_app',
      method: 'GET',
      path: '/operator/apps/{app_id}',
      sentence: 'Reads where the sign-up of an app may return to, and whether its requests must prove its secret.',
      input: Type.Object({ app_id: idSchema({ description: 'The id of the app.' }) }),
      output: appSchema,
      examples: {
        input: { app_id: exampleApp.id },
        output: exampleApp,
      },
      async run({ db, limits }, { app_id }) {
        return readApp(db, limits, app_id)
      },
    }),
    defineOperatorWrite({
      name: 'operator.update_app',
      method: 'POST',
      path: '/operator/apps/{app_id}',
      sentence:
        'Changes where the sign-up of an app may return to, and whether its requests must prove its secret; what is left out stays.',
      input: Type.Object({
        app_id: idSchema({ description: 'The id of the app.' }),
        redirect_uris: Type.Optional(redirectUrisSchema),
        require_appsecret_proof: Type.Optional(appSchema.properties.require_appsecret_proof),
      }),
      output: appSchema,
      examples: {
        input: { app_id: exampleApp.id, redirect_uris: exampleApp.redirect_uris },
        output: exampleApp,
      },
      async run({ db, limits }, { app_id, ...changes }) {
        const { redirect_uris, require_appsecret_proof } = changes
        for (const [index, uri] of (redirect_uris ?? []).entries()) {
          const problem = findRedirectProblem(uri, `redirect_uris[${index}]`)
          if (problem) throw badArgument(problem)
        }
        const { business_id } = await readApp(db, limits, app_id)
        if (redirect_uris === undefined && require_appsecret_proof === undefined) throw noAppChange()
        await updateAppForOperators(db, app_id, changes)
        const response = await readApp(db, limits, app_id)
        return new Recorded(response, { id: app_id, kind: 'application', business_id })
      },
    }),
    defineOperatorRead({
      name: 'operator.list_business_users',
      method: 'GET',
      path: '/operator/businesses/{business_id}/users',
      sentence: 'Lists the people of a business, who may connect it to apps, newest first.',
      list: newestFirst(1000),
      input: Type.Object({
        business_id: idSchema({ description: 'The id of the business.' }),
        user_id: Type.Optional(idSchema({ description: 'Only this person.' })),
      }),
      output: Type.Object({ data: Type.Array(businessUserSchema), paging: pagingSchema }),
      examples: {
        input: { business_id: '2000000000000001', limit: 1 },
        output: { data: [exampleUser], paging: exampleCursors },
      },
      async run({ db, limits, page }, { business_id, user_id }) {
        if (!(await findBusinessForOperators(db, limits, business_id))) throw notFound()
        return page.fetch(
          (range) => listBusinessUsersForOperators(db, business_id, user_id, range),
          (row) => ({ ...row, created_time: writeTimestamp(row.created_time) }),
        )
      },
    }),
  ]
}

/** 404 for an app that the operator does not see. */
async function readApp(db: Db, limits: OperatorLimits | undefined, id: string): Promise<Static<typeof appSchema>> {
  const app = await findAppForOperators(db, limits, id)
  if (!app) throw notFound()
  const { redirect_uris, require_appsecret_proof, ...facts } = app
  return {
    ...facts,
    redirect_uris: redirect_uris ?? [],
    require_appsecret_proof: require_appsecret_proof ?? false,
  }
}
