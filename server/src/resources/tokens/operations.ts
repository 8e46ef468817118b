import { Type } from 'typebox'
import { readScope, writeScope } from '../../auth/scopes.ts'
import type { Chapter } from '../../chapter.ts'
import { type Caller, isScopeOfService } from '../../graph/caller.ts'
import { limitsOf } from '../../graph/context.ts'
import { defineTokenRead, defineTokenWrite } from '../../graph/define.ts'
import { badArgument } from '../../graph/define-error.ts'
import { invalidToken } from '../../graph/errors.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { Recorded } from '../../graph/result.ts'
import { successSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { debugNeedsApp, inputTokenOfAnother, notForSessions, scopeNotHeld, tokenStaysWithSecret } from './errors.ts'
import { describeToken, describeUnknown } from './inspect.ts'
import { takeBack, takeBackAll } from './permissions.ts'
import { debugSchema, meSchema } from './schemas.ts'
import { findInspected, findOwnerOf, listOwners, mayInspect } from './store.ts'

/** Who a token is, and what it may do. */
export const tokensChapter: Chapter = {
  name: 'tokens',
  title: 'Tokens',
  rows: tokenOperations,
}

const meFields = Object.keys(meSchema.properties)

function tokenOperations(vocabulary: Vocabulary): NewOperation[] {
  return [
    defineTokenRead({
      name: 'tokens.read_me',
      method: 'GET',
      path: '/{Version}/me',
      sentence: 'Reads who the token is: the person to whom it belongs, or its app.',
      permit: ({ caller }) => refuseSession(caller),
      fields: { available: meFields, defaults: meFields, mode: 'replace' },
      input: Type.Object({}),
      output: meSchema,
      examples: { output: { id: '3000000000000001', name: 'Shrub CRM' } },
      async run({ db, caller, project }) {
        const owner = await findOwnerOf(db, caller)
        // Revoked and removed since it was admitted.
        if (!owner) throw invalidToken()
        return project(owner)
      },
    }),
    defineTokenWrite({
      name: 'tokens.take_back_all',
      method: 'DELETE',
      path: '/{Version}/me/permissions',
      sentence:
        'Takes back everything that the token may do: it ends, and with it the connection that it was given for.',
      permit: ({ caller }) => refuseSession(caller),
      input: Type.Object({}),
      output: successSchema,
      examples: { by: 'spare', output: { success: true } },
      async run({ db, clock, random, caller }) {
        refuseOfApp(caller)
        await takeBackAll(db, { clock, random }, caller)
        return new Recorded({ success: true }, subjectOf(caller))
      },
    }),
    defineTokenWrite({
      name: 'tokens.take_back',
      method: 'DELETE',
      path: '/{Version}/me/permissions/{scope}',
      sentence:
        'Takes back one permission of the token, and of the connection that it was given for; without one left, it ends.',
      permit: ({ caller }) => refuseSession(caller),
      input: Type.Object({
        scope: Type.String({ maxLength: 100, description: 'One of the permissions of the token.' }),
      }),
      output: successSchema,
      examples: {
        by: 'spare',
        input: { scope: writeScope('msgapp_business_messaging', vocabulary) },
        output: { success: true },
      },
      async run({ db, clock, random, caller }, { scope: text }) {
        refuseOfApp(caller)
        const scope = readScope(text)
        if (!scope || !(await takeBack(db, { clock, random }, caller, scope))) {
          throw badArgument(
            scopeNotHeld('scope', { held: [...caller.scopes].map((one) => writeScope(one, vocabulary)) }),
          )
        }
        return new Recorded({ success: true }, subjectOf(caller))
      },
    }),
    defineTokenRead({
      name: 'tokens.debug',
      method: 'GET',
      path: '/debug_token',
      versions: 'optional',
      sentence:
        "Reads what a token is, by the own token of its app (the app's id and secret joined by `|`) or by an operator.",
      permit({ caller }) {
        if (!caller.isOfApp && !caller.scopes.has('operator')) throw debugNeedsApp()
      },
      input: Type.Object({
        input_token: Type.String({ minLength: 1, maxLength: 1000, description: 'The token in question.' }),
      }),
      output: debugSchema,
      examples: {
        by: 'operator',
        input: { input_token: 'demo-granular-token' },
        output: {
          data: {
            app_id: '3000000000000001',
            application: 'Shrub CRM',
            type: 'SYSTEM_USER',
            is_valid: true,
            issued_at: 1780315200,
            expires_at: 2082758400,
            scopes: [writeScope('msgapp_business_management', vocabulary)],
            granular_scopes: [
              { scope: writeScope('msgapp_business_management', vocabulary), target_ids: ['1000000000000002'] },
            ],
          },
        },
      },
      async run({ db, clock, caller, guesses, remote_address }, { input_token }) {
        // Whoever has one app could otherwise guess the secret of another here.
        guesses.refuse(remote_address, input_token)
        const token = await findInspected(db, input_token)
        if (!token) {
          guesses.noteWrong(remote_address)
          return { data: describeUnknown() }
        }
        if (!mayInspect(token, caller, limitsOf(caller))) {
          guesses.noteWrong(remote_address)
          throw badArgument(inputTokenOfAnother('input_token'))
        }
        guesses.noteGood(input_token)
        const owners = token.accounts === null ? [] : await listOwners(db, token.accounts)
        return { data: describeToken(token, owners, vocabulary, clock.now()) }
      },
    }),
  ]
}

function refuseSession({ app_id }: Caller): void {
  if (app_id === '') throw notForSessions()
}

function refuseOfApp({ isOfApp }: Caller): void {
  if (isOfApp) throw tokenStaysWithSecret()
}

/** Of a business only where the token acts for that business alone. */
function subjectOf({ token_id, scopes, business_id }: Caller) {
  return { id: token_id, kind: 'token', business_id: [...scopes].some(isScopeOfService) ? undefined : business_id }
}
