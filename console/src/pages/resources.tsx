import { useSignal } from '@preact/signals'
import { gatewayReviewTemplate, operatorListNodes } from '@switchboard/client/methods'
import { appOf, apps, nameOf, takeToken, version } from '../data/directory.ts'
import { base, client, explain, sendWritten } from '../data/http.ts'
import { service } from '../data/live.ts'
import type { Node } from '../data/types.ts'
import { go, place, setQuery } from '../router.ts'
import { loadedValue, problemOf, useLoaded } from '../ui/loaded.tsx'
import { Badge, Code, Empty, Field, Head, PageHead, TablePlace, To } from '../ui/parts.tsx'
import { attempt } from '../ui/toast.tsx'

/** What the kinds are called whose names are not what people say. */
const names: Readonly<Record<string, string>> = { application: 'app' }

function nameKind(kind: string): string {
  return names[kind] ?? kind.replaceAll('_', ' ')
}

/** One filter for all of a kind. */
function nameKinds(kind: string): string {
  const name = nameKind(kind)
  const plural = name.endsWith('s') ? `${name}es` : name === 'media' ? name : `${name}s`
  return `${plural.slice(0, 1).toUpperCase()}${plural.slice(1)}`
}

/** Everything in the store, to search and to open. */
export function ResourcesPage() {
  const { query } = place.value
  const q = query.get('q') ?? ''
  const kind = query.get('kind') ?? ''
  const list = useLoaded(`${kind} ${q}`, () =>
    operatorListNodes(client, { limit: 200, ...(kind !== '' && { kind }), ...(q !== '' && { q }) }),
  )
  const counts = Object.entries(service.value?.counts ?? {}).filter(([, count]) => count > 0)
  const rows = loadedValue(list)?.data ?? []
  return (
    <div class="page">
      <PageHead of="resources" />
      <search class="filters">
        <input
          type="search"
          data-search=""
          aria-label="Search"
          placeholder="Part of a name, a number or an id"
          value={q}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
        <select aria-label="Kind" value={kind} onChange={(event) => setQuery({ kind: event.currentTarget.value })}>
          <option value="">All kinds</option>
          {counts.map(([name, count]) => (
            <option key={name} value={name}>{`${nameKinds(name)} (${count})`}</option>
          ))}
        </select>
      </search>
      {problemOf(list) && <p class="bad">{problemOf(list)}</p>}
      {rows.length === 0 && loadedValue(list) ? (
        <Empty title="Nothing matches" />
      ) : (
        <TablePlace label="Resources">
          <table>
            <thead>
              <tr>
                <th scope="col">Kind</th>
                <th scope="col">Name</th>
                <th scope="col">Id</th>
                <th scope="col">Account</th>
                <th scope="col">Business</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((node) => (
                <tr
                  key={node.id}
                  class="leads"
                  onClick={(event) => {
                    if (!(event.target as Element).closest('a')) go(`/resources/${node.id}`)
                  }}
                >
                  <td>
                    <Badge tone="plain">{nameKind(node.kind)}</Badge>
                  </td>
                  <td>{node.name ?? ''}</td>
                  <td class="mono">
                    <To href={`/resources/${node.id}`}>{node.id}</To>
                  </td>
                  <td>{nameOf(node.account_id)}</td>
                  <td>{nameOf(node.business_id)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </TablePlace>
      )}
    </div>
  )
}

/** What else can be read of a kind, beside the object itself. */
const edges: Readonly<Record<string, readonly string[]>> = {
  account: ['phone_numbers', 'message_templates', 'subscribed_apps', 'activities', 'schedules'],
  phone_number: ['msgapp_business_profile', 'message_qrdls', 'groups', 'settings'],
  application: ['subscriptions'],
  business: ['owned_msgapp_business_accounts'],
}

/** One object, as the API shows it to its own business, and a way to change it. */
export function ResourcePage({ id }: { readonly id: string }) {
  const node = useLoaded(id, async () => {
    const { data } = await operatorListNodes(client, { q: id, limit: 20 })
    return data.find((one) => one.id === id)
  })
  const found = loadedValue(node)
  if (!found) {
    return (
      <div class="page">
        {loadedValue(node) === undefined && problemOf(node) === undefined ? (
          <p class="wait">Loading…</p>
        ) : (
          <Empty title="This object does not exist">{problemOf(node)}</Empty>
        )}
      </div>
    )
  }
  return <Resource node={found} />
}

function Resource({ node }: { readonly node: Node }) {
  const app = appOf(node.business_id) ?? apps.value[0]?.id
  const edge = place.value.query.get('edge') ?? ''
  const path = `/${version()}/${node.id}${edge === '' ? '' : `/${edge}`}`
  const read = useLoaded(`${path} ${app}`, async () => {
    if (app === undefined) throw new Error('No app of the business can read it.')
    return (await sendWritten('GET', path, await takeToken(app))).body
  })
  const vocabulary = service.value?.vocabulary ?? 'msgapp'
  const more = (edges[node.kind] ?? []).map((name) => name.replace('msgapp', vocabulary))
  return (
    <div class="page">
      <Head title={node.name ?? node.id} lead={`${nameKind(node.kind)} ${node.id} of ${nameOf(node.business_id)}`}>
        <To href="/resources">All resources</To>
      </Head>
      {more.length > 0 && (
        <fieldset class="tabs" aria-label="What to read">
          {['', ...more].map((name) => (
            <button type="button" key={name} aria-pressed={name === edge} onClick={() => setQuery({ edge: name })}>
              {name === '' ? 'Itself' : name}
            </button>
          ))}
        </fieldset>
      )}
      {node.kind === 'message_template' && <Review id={node.id} reload={() => void read.reload()} />}
      {problemOf(read) ? (
        <Empty title="The API does not return it">
          <p>{problemOf(read)}</p>
        </Empty>
      ) : (
        <Code label={`GET ${location.origin}${base}${path}`} text={JSON.stringify(loadedValue(read) ?? {}, null, 2)} />
      )}
      {app !== undefined && edge === '' && <Change path={path} app={app} reload={() => void read.reload()} />}
    </div>
  )
}

function Review({ id, reload }: { readonly id: string; readonly reload: () => void }) {
  const set = (json: object) =>
    attempt(async () => {
      await gatewayReviewTemplate(client, id, json)
      reload()
    }, 'The template has a new status.')
  return (
    <fieldset class="row review" aria-label="Review">
      <button type="button" onClick={() => void set({ status: 'APPROVED' })}>
        Approve
      </button>
      <button type="button" onClick={() => void set({ status: 'REJECTED', reason: 'INVALID_FORMAT' })}>
        Reject
      </button>
      <button type="button" onClick={() => void set({ status: 'PAUSED' })}>
        Pause
      </button>
    </fieldset>
  )
}

function Change({ path, app, reload }: { readonly path: string; readonly app: string; readonly reload: () => void }) {
  const body = useSignal('{\n  \n}')
  const outcome = useSignal<{ tone: string; text: string } | undefined>(undefined)
  const send = async () => {
    try {
      const answer = (await sendWritten('POST', path, await takeToken(app), JSON.parse(body.value))).body
      outcome.value = { tone: 'good', text: JSON.stringify(answer) }
      reload()
    } catch (error) {
      outcome.value = {
        tone: 'bad',
        text: error instanceof SyntaxError ? `The body is not JSON: ${error.message}` : explain(error),
      }
    }
  }
  return (
    <details class="card">
      <summary>Change it</summary>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <Field label={`POST ${path}`}>
          <textarea
            class="mono"
            rows={5}
            value={body.value}
            onInput={(event) => {
              body.value = event.currentTarget.value
            }}
          />
        </Field>
        <button type="submit" class="main">
          Send
        </button>
        {outcome.value && (
          <p class={outcome.value.tone} role="status">
            {outcome.value.text}
          </p>
        )}
      </form>
    </details>
  )
}
