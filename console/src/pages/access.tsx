import { useSignal } from '@preact/signals'
import {
  operatorCreateToken,
  operatorListAudit,
  operatorListTokens,
  operatorRevokeToken,
} from '@switchboard/client/methods'
import { apps, nameOf } from '../data/directory.ts'
import { client, session } from '../data/http.ts'
import type { Token } from '../data/types.ts'
import { Dialog } from '../ui/dialog.tsx'
import { loadedValue, useLoaded } from '../ui/loaded.tsx'
import { Badge, CopyButton, Empty, Field, PageHead, TablePlace, To, When } from '../ui/parts.tsx'
import { attempt } from '../ui/toast.tsx'

const scopeWords: Readonly<Record<string, string>> = {
  business_management: 'onboards businesses',
  gateway: "acts for the users' phones",
  operator: 'sees and runs everything',
}

/** What a token can do, in words. */
function explainToken({ scopes, accounts, businesses }: Token): string {
  const does = scopes.map((scope) => {
    if (scope.endsWith('_business_management') && scope !== 'business_management') return 'manages accounts and numbers'
    if (scope.endsWith('_business_messaging')) return 'sends messages and calls'
    return scopeWords[scope] ?? scope
  })
  const limits = [...(accounts ?? []), ...(businesses ?? [])]
  const where = limits.length === 0 ? '' : `, for ${limits.map(nameOf).join(', ')} alone`
  return `${does.join(', ') || 'can do nothing'}${where}`
}

/** Tokens, sessions, and who did what. */
export function AccessPage() {
  const tokens = useLoaded('tokens', () => operatorListTokens(client, { limit: 200 }))
  const audit = useLoaded('audit', () => operatorListAudit(client, { limit: 50 }))
  const makes = useSignal(false)
  const reload = () => {
    void tokens.reload()
    void audit.reload()
  }
  const all = loadedValue(tokens)?.data ?? []
  const sessions = all.filter(({ session_name }) => session_name !== undefined)
  const others = all.filter(({ session_name }) => session_name === undefined)
  const end = (id: string, what: string) =>
    attempt(async () => {
      await operatorRevokeToken(client, id)
      reload()
    }, `${what} has ended.`)
  return (
    <div class="page">
      <PageHead of="access">
        <button
          type="button"
          class="main"
          onClick={() => {
            makes.value = true
          }}
        >
          Create a token
        </button>
      </PageHead>
      <section class="block" aria-labelledby="tokens-title">
        <h2 id="tokens-title">Tokens</h2>
        <TablePlace label="List of tokens">
          <table>
            <thead>
              <tr>
                <th scope="col">Token</th>
                <th scope="col">State</th>
                <th scope="col">App</th>
                <th scope="col">What it can do</th>
                <th scope="col">Created</th>
                <th scope="col">Expires</th>
                <th scope="col">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {others.map((token) => (
                <tr key={token.id}>
                  <td class="mono">{token.id}</td>
                  <td>
                    <Badge tone={token.state === 'good' ? 'good' : 'bad'}>{token.state}</Badge>
                  </td>
                  <td>{nameOf(token.app_id)}</td>
                  <td class="wrap">{explainToken(token)}</td>
                  <td>
                    <When at={token.created_time} />
                  </td>
                  <td>{token.expires_time ? <When at={token.expires_time} /> : 'never'}</td>
                  <td>
                    {token.state === 'good' && (
                      <button type="button" class="small" onClick={() => void end(token.id, 'The token')}>
                        Revoke
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TablePlace>
      </section>
      <section class="block" aria-labelledby="sessions-title">
        <h2 id="sessions-title">Console sessions</h2>
        <ul class="plain-list">
          {sessions.map((token) => (
            <li key={token.id} class="row">
              <b class="grow">
                {token.session_name}
                {token.id === session.value?.token_id && <span class="soft"> (this one)</span>}
              </b>
              <Badge tone={token.state === 'good' ? 'good' : 'plain'}>{token.state}</Badge>
              <span class="soft">
                until <When at={token.expires_time} />
              </span>
              {token.state === 'good' && (
                <button type="button" class="small" onClick={() => void end(token.id, 'The session')}>
                  End
                </button>
              )}
            </li>
          ))}
        </ul>
      </section>
      <section class="block" aria-labelledby="audit-title">
        <h2 id="audit-title">Who did what</h2>
        {loadedValue(audit)?.data.length === 0 ? (
          <Empty title="No records yet" />
        ) : (
          <TablePlace label="List of records">
            <table>
              <thead>
                <tr>
                  <th scope="col">Time</th>
                  <th scope="col">Operation</th>
                  <th scope="col">On</th>
                  <th scope="col">By</th>
                  <th scope="col">From</th>
                  <th scope="col">Trace</th>
                </tr>
              </thead>
              <tbody>
                {(loadedValue(audit)?.data ?? []).map((record) => (
                  <tr key={record.id}>
                    <td>
                      <When at={record.time} />
                    </td>
                    <td>{record.operation}</td>
                    <td>{`${record.node_kind.replaceAll('_', ' ')} ${nameOf(record.node_id)}`}</td>
                    <td>{record.actor_name ?? nameOf(record.actor_app_id)}</td>
                    <td class="mono">{record.remote_address}</td>
                    <td class="mono">
                      <To href={`/traces/${record.trace}`}>{record.trace.slice(0, 8)}</To>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </TablePlace>
        )}
      </section>
      {makes.value && (
        <MakeToken
          onMade={reload}
          onClose={() => {
            makes.value = false
          }}
        />
      )}
    </div>
  )
}

const choices = [
  ['msgapp_business_management', 'Manage accounts and numbers'],
  ['msgapp_business_messaging', 'Send messages and call'],
  ['business_management', 'Onboard businesses'],
  ['gateway', "Act for the users' phones"],
  ['operator', 'See and run everything'],
] as const

function MakeToken({ onMade, onClose }: { readonly onMade: () => void; readonly onClose: () => void }) {
  const made = useSignal<string | undefined>(undefined)
  const make = (form: FormData) =>
    attempt(async () => {
      const expires = String(form.get('expires'))
      const { token } = await operatorCreateToken(client, {
        app_id: String(form.get('app')),
        scopes: form.getAll('scope').map(String),
        ...(expires !== '' && { expires }),
      })
      made.value = token
      onMade()
    })
  return (
    <Dialog title="Create a token" onClose={onClose}>
      {made.value === undefined ? (
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault()
            void make(new FormData(event.currentTarget))
          }}
        >
          <Field label="For the app">
            <select name="app">
              {apps.value.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name ?? id}
                </option>
              ))}
            </select>
          </Field>
          <fieldset>
            <legend>Permissions</legend>
            <div class="checks">
              {choices.map(([scope, words], index) => (
                <label class="check" key={scope}>
                  <input type="checkbox" name="scope" value={scope} defaultChecked={index < 2} />
                  {words}
                </label>
              ))}
            </div>
          </fieldset>
          <Field
            label="Expires after"
            hint="Such as 12h or 60d. Empty: never, but with the last two permissions until this session ends."
          >
            <input name="expires" value="60d" />
          </Field>
          <button type="submit" class="main">
            Make it
          </button>
        </form>
      ) : (
        <>
          <p>Copy the secret now; it is shown only once:</p>
          <p class="row">
            <code class="grow break">{made.value}</code>
            <CopyButton text={made.value} />
          </p>
        </>
      )}
    </Dialog>
  )
}
