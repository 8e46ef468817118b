import { type Static, Type } from 'typebox'
import { writeAppToken } from '../../auth/app-tokens.ts'
import { isDemoToken } from '../../auth/demo.ts'
import { second } from '../../base/time/duration.ts'
import type { OpenContext } from '../../graph/context.ts'
import { defineOpenCall } from '../../graph/define.ts'
import { badArgument } from '../../graph/define-error.ts'
import { GraphError } from '../../graph/graph-error.ts'
import type { NewRow } from '../../graph/operation.ts'
import { Attempts } from './attempts.ts'
import { authenticateClient, type Client } from './clients.ts'
import { hashCode } from './connections.ts'
import { exchangeCode, exchangeToken, type RenewedToken } from './exchange.ts'
import { neededForGrant, tokenNotExchanged } from './exchange-errors.ts'

const grantTypes = ['authorization_code', 'client_credentials', 'fb_exchange_token'] as const

const input = Type.Object({
  client_id: Type.String({ maxLength: 64, description: 'The id of the app.' }),
  client_secret: Type.String({
    maxLength: 4096,
    description: 'The secret of the app; during the overlap of a rotation also the one before.',
  }),
  grant_type: Type.Optional(
    Type.Enum(grantTypes, {
      description:
        'What is exchanged: the code of a sign-up, which is the default, nothing but the secret for the app token, or a token for one that lives for EXCHANGED_TOKEN_LIFETIME, and not longer than a token that was made with an end.',
    }),
  ),
  code: Type.Optional(Type.String({ maxLength: 512, description: 'The code of the sign-up.' })),
  redirect_uri: Type.Optional(
    Type.String({ maxLength: 4096, description: 'Where the code was sent: that of the sign-up, to the letter.' }),
  ),
  code_verifier: Type.Optional(
    Type.String({ maxLength: 512, description: 'The text whose SHA-256 was the code_challenge of the sign-up.' }),
  ),
  fb_exchange_token: Type.Optional(Type.String({ maxLength: 4096, description: 'The token to exchange.' })),
})

const output = Type.Object({
  access_token: Type.String({ description: 'The token. It is shown once.' }),
  token_type: Type.Literal('bearer'),
  expires_in: Type.Optional(Type.Integer({ description: 'In how many seconds it ends; left out: it has no end.' })),
})

/** An app gets its tokens: for the code of a sign-up, for its secret, for another token. */
export function exchangeOperations(): NewRow[] {
  const attempts = new Attempts()
  const rows = [
    { method: 'GET', name: 'sign_up.exchange_by_query' },
    { method: 'POST', name: 'sign_up.exchange' },
  ] as const
  return rows.map(({ method, name }) =>
    defineOpenCall({
      name,
      method,
      path: '/oauth/access_token',
      versions: 'optional',
      sentence: `Exchanges the code of a sign-up, the secret of an app or a token for a token of the app${method === 'GET' ? ', with everything in the query' : ''}.`,
      input,
      output,
      returnsSecret: true,
      examples: {
        input: {
          client_id: '3000000000000001',
          client_secret: 'shrub-app-secret',
          grant_type: 'client_credentials',
        },
        output: { access_token: '3000000000000001|shrub-app-secret', token_type: 'bearer' },
      },
      run: (context, given) => exchange(context, given, attempts),
    }),
  )
}

type Given = Static<typeof input>
type Tokens = Static<typeof output>

/** Who asks is checked first, whatever is asked for. */
async function exchange(context: OpenContext, given: Given, attempts: Attempts): Promise<Tokens> {
  const { db, clock } = context
  const { grant_type = 'authorization_code', code, fb_exchange_token } = given
  if (grant_type === 'authorization_code' && code) {
    return attempts.run(hashCode(db, code), clock.now(), async (attempt) => {
      const app = await authenticateClient(context, given)
      return { access_token: await exchangeCode(context, attempt, app, { ...given, code }), token_type: 'bearer' }
    })
  }
  const app = await authenticateClient(context, given)
  if (grant_type === 'client_credentials') {
    return { access_token: writeAppToken(app.id, given.client_secret), token_type: 'bearer' }
  }
  if (grant_type === 'authorization_code') throw badArgument(neededForGrant('code'))
  if (!fb_exchange_token) throw badArgument(neededForGrant('fb_exchange_token'))
  const { secret, lifetime } = await exchangeGuarded(context, app, fb_exchange_token)
  return { access_token: secret, token_type: 'bearer', expires_in: Math.floor(lifetime / second) }
}

/** Tokens of world files are what people wrote: whoever has the secret of an app could guess them here. */
async function exchangeGuarded(context: OpenContext, app: Client, token: string): Promise<RenewedToken> {
  const { guesses, mayUseDemo, remote_address } = context
  guesses.refuse(remote_address, token)
  try {
    // Another token for it would be valid everywhere.
    if (isDemoToken(token) && !mayUseDemo) throw tokenNotExchanged()
    const renewed = await exchangeToken(context, app, token)
    guesses.noteGood(token)
    return renewed
  } catch (error) {
    if (error instanceof GraphError && error.definition.id === tokenNotExchanged.id)
      guesses.noteWrong(remote_address, { secret: token })
    throw error
  }
}
