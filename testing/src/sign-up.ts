import { createHash, randomBytes } from 'node:crypto'
import { type Switchboard, SwitchboardError } from '@switchboard/client'
import type { WorldAccount, WorldApp, WorldBusiness, WorldPerson } from './generated/world.ts'

/** Who connects what to the app; the first that there is when left out. */
export interface SignUpRequest {
  /** The account to connect. When left out, the first whose owner is another business than the app's; where there is none, the world's first. */
  readonly account?: string | undefined
  /** The phone number that is chosen; the account's first when left out. */
  readonly number?: string | undefined
  /** The person who agrees: an id of `users` of the business that owns the account; its first when left out. */
  readonly user?: string | undefined
  /** What the person agrees to; managing and messaging when left out. */
  readonly scopes?: readonly string[] | undefined
}

/** What came of a sign-up. */
export interface SignedUp<Client> {
  /** The token that the app got for its code. */
  readonly token: string
  /** A client with that token. */
  readonly client: Client
  readonly account_id: string
  /** The business that owns the account. */
  readonly business_id: string
  /** The number that was chosen; undefined where the account has none. */
  readonly phone_number_id: string | undefined
  /** The person who agreed. */
  readonly user_id: string
  readonly scopes: readonly string[]
}

interface StoredWorld {
  readonly businesses?: readonly WorldBusiness[]
  readonly apps?: readonly WorldApp[]
  readonly accounts?: readonly WorldAccount[]
}

/** Nothing listens there: the code is taken from the redirect. */
const ownRedirect = 'http://127.0.0.1:9/connected'
const firstPersonId = 2_399_000_000_000_000n

/** Lets a business connect an account to an app, by the dialog and the exchange that apps use, and without a browser. */
export async function signUp<Client extends Switchboard>(
  client: Client,
  appId: string,
  request: SignUpRequest,
): Promise<SignedUp<Client>> {
  const world = await readWorld(client)
  const app = world.apps?.find(({ id }) => id === appId)
  if (!app) throw new Error(`the world has no app ${appId}`)
  const account = chooseAccount(world, app, request.account)
  const business_id = account.business_id
  const redirect_uri = app.redirect_uris?.[0] ?? ownRedirect
  const owner = world.businesses?.find(({ id }) => id === business_id)
  const [person = makePerson(business_id)] = owner?.users ?? []
  const user_id = request.user ?? person.id
  const phone_number_id = request.number ?? account.phone_numbers?.[0]?.id
  await client.operator.world.apply({
    ...(!app.redirect_uris?.length && {
      apps: [{ id: app.id, business_id: app.business_id, name: app.name, redirect_uris: [redirect_uri] }],
    }),
    ...(!owner?.users?.length && { businesses: [{ id: business_id, name: owner?.name, users: [person] }] }),
  })
  const code_verifier = randomBytes(32).toString('base64url')
  const code = await agree(client, {
    client_id: appId,
    redirect_uri,
    account_id: account.id,
    phone_number_id,
    user_id,
    scope: request.scopes?.join(','),
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
  })
  const client_secret = app.secret ?? ''
  const exchanged = { client_id: appId, client_secret, code, redirect_uri, code_verifier }
  const { access_token: token } = await client.oauth.exchangeCode(exchanged)
  const { data } = await client.tokens.debug({ input_token: token }, { token: `${appId}|${client_secret}` })
  return {
    token,
    client: client.withOptions({ token }),
    account_id: account.id,
    business_id,
    phone_number_id,
    user_id,
    scopes: data.scopes,
  }
}

async function readWorld({ operator }: Switchboard): Promise<StoredWorld> {
  const exported = await operator.world.export({ headers: { accept: 'application/json' } })
  return (await exported.json()) as StoredWorld
}

function chooseAccount({ accounts = [] }: StoredWorld, app: WorldApp, id: string | undefined): WorldAccount {
  const found =
    id === undefined
      ? (accounts.find(({ business_id }) => business_id !== app.business_id) ?? accounts[0])
      : accounts.find((account) => account.id === id)
  if (!found) throw new Error(`the world has no account ${id ?? ''}`.trimEnd())
  return found
}

/** Somebody must agree, and a world need not say who. */
function makePerson(business_id: string): WorldPerson {
  const id = String(firstPersonId + (BigInt(business_id) % 1_000_000_000_000n))
  return { id, name: 'Tests', email: `tests-${business_id}@example.com` }
}

/** The code that the dialog redirects with. */
async function agree({ baseUrl }: Switchboard, given: Readonly<Record<string, string | undefined>>): Promise<string> {
  const state = randomBytes(16).toString('hex')
  const all = { ...given, state, response_type: 'code', code_challenge_method: 'S256', auto: 'accept' }
  const sent = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined)
  const response = await fetch(`${baseUrl}/dialog/oauth?${new URLSearchParams(sent)}`, { redirect: 'manual' })
  const location = response.headers.get('location')
  if (location === null) throw new SwitchboardError(`the sign-up was refused: ${readRefusal(await response.text())}`)
  const { searchParams } = new URL(location)
  const code = searchParams.get('code')
  if (code === null || searchParams.get('state') !== state) {
    throw new SwitchboardError(`the sign-up ended without a code: ${searchParams.get('error')}`)
  }
  return code
}

/** What a page of the dialog says, as text. */
function readRefusal(page: string): string {
  const [, text = page.slice(0, 500)] = /role="alert">([^<]*)</.exec(page) ?? []
  const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
  return text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_match, name: string) => characters[name] ?? '')
}
