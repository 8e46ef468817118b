import { createServer } from 'node:http'
import { Switchboard } from '@switchboard/client'

const { CLIENT_ID = '3000000000000002', CLIENT_SECRET = 'partner-app-secret', PORT = '9000' } = process.env
const TO = process.env['TO'] ?? '16505551234'
const root = `http://127.0.0.1:${PORT}`
const app = { client_id: CLIENT_ID, redirect_uri: `${root}/connected` }
// The app's own token; with the secret, the client proves with every request that it knows it.
const platform = new Switchboard({ token: `${CLIENT_ID}|${CLIENT_SECRET}`, appSecret: CLIENT_SECRET })
const lines: string[] = []

/** The browser is back with a code: the app gets its token, and sends the first message. */
async function connect(code: string, code_verifier: string | undefined) {
  const exchanged = { ...app, client_secret: CLIENT_SECRET, code, code_verifier }
  const { access_token } = await platform.oauth.exchangeCode(exchanged)
  const { data } = await platform.tokens.debug({ input_token: access_token })
  const account = data.granular_scopes?.[0]?.target_ids?.[0] ?? ''
  const business = platform.withOptions({ token: access_token })
  await business.webhooks.linkedApps.create(account)
  // The newest comes first.
  const number = (await business.phoneNumbers.list(account).toArray()).at(-1)
  lines.push(`Connected account ${account} with ${number?.display_phone_number ?? 'no number'}.`)
  if (!number) return
  await business.messages.send(number.id, { to: TO, type: 'text', text: { body: 'We are connected.' } })
  lines.push(`First message to ${TO}: We are connected.`)
}

const webhooks = platform.webhooks.handler({
  verifyToken: 'partner-verify-token',
  secret: CLIENT_SECRET,
  onEvent({ field, value, account_id }) {
    if (field === 'account_update') lines.push(`Event for account ${account_id}: ${value['event']}.`)
  },
})

const page = () => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Partner Suite</title>
<meta name="viewport" content="width=device-width">
<style>
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
  body { max-width: 40rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
  a, button { margin-right: 1rem; font: inherit }
</style>
<h1>Partner Suite</h1>
<p><a href="/connect">Connect</a> <button>Connect in a pop-up</button> <output></output></p>
<ul>${lines.map((line) => `<li>${line.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</li>`).join('')}</ul>
<script>
  document.querySelector('button').onclick = () => open('/connect', 'sign-up', 'popup,width=560,height=760')
  addEventListener('message', ({ origin, data }) => {
    if (origin === '${new URL(platform.baseUrl).origin}') document.querySelector('output').value = data.event
  })
  if (opener) opener.location.reload(), close()
</script>`

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(`${root}${request.url}`)
  if (pathname === '/') return response.setHeader('content-type', 'text/html').end(page())
  if (pathname === '/webhooks') return webhooks.node(request, response)
  if (pathname === '/connect') {
    // State and verifier stay in this browser: a code that somebody else asked for is refused.
    const { url, state, code_verifier } = await platform.oauth.signUpUrl(app)
    const cookie = `sign_up=${state}.${code_verifier}; Path=/connected; HttpOnly; SameSite=Lax`
    return response.writeHead(302, { location: url, 'set-cookie': cookie }).end()
  }
  if (pathname !== '/connected') return response.writeHead(404).end()
  const [, state, verifier] = /\bsign_up=(\w+)\.(\w+)/.exec(request.headers.cookie ?? '') ?? []
  const code = searchParams.get('code')
  if (!state || searchParams.get('state') !== state) lines.push('Refused: this sign-up was not begun here.')
  else if (code === null) lines.push(`Not connected: ${searchParams.get('error')}.`)
  else await connect(code, verifier).catch((error) => lines.push(String(error)))
  response.writeHead(302, { location: '/', 'set-cookie': 'sign_up=; Path=/connected; Max-Age=0' }).end()
})

server.listen(Number(PORT), '127.0.0.1', async () => {
  const subscription = { callback_url: `${root}/webhooks`, verify_token: 'partner-verify-token' }
  const object = `${platform.vocabulary}_business_account` as const
  await platform.webhooks.subscriptions.create(CLIENT_ID, { object, ...subscription, fields: ['account_update'] })
  console.log(`listening on ${root}/`)
})
