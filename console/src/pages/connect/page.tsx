import { operatorNodesList } from '@switchboard/client/methods'
import { client } from '../../data/http.ts'
import type { Node } from '../../data/types.ts'
import { place, setQuery } from '../../router.ts'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { Code, Empty, PageHead, To } from '../../ui/parts.tsx'
import './connect.css'
import { readConnection } from './connection.ts'
import { FirstEvent } from './first-event.tsx'
import { Receiver } from './receiver.tsx'
import { SecretsStep, useSecrets } from './secrets.tsx'
import { receiverUrl } from './snippets.ts'
import { Subscribe } from './subscribe.tsx'

const mostApps = 200

/** The apps to choose from; one that the address names is among them, however many there are. */
async function readApps(named: string): Promise<{ apps: readonly Node[]; hasMore: boolean }> {
  const { data, paging } = await operatorNodesList(client, { kind: 'application', limit: mostApps })
  const isListed = named === '' || data.some(({ id }) => id === named)
  const found = isListed ? [] : (await operatorNodesList(client, { kind: 'application', q: named, limit: 5 })).data
  return { apps: [...found.filter(({ id }) => id === named), ...data], hasMore: paging?.next !== undefined }
}

/** From nothing to the first event received: one page, in order. */
export function ConnectPage() {
  const named = place.value.query.get('app') ?? ''
  const list = useLoaded(`apps ${named}`, () => readApps(named))
  return (
    <div class="page page-connect">
      <PageHead of="connect" />
      <Loaded
        of={list}
        what="the apps"
        isEmpty={({ apps }) => apps.length === 0}
        empty={
          <Empty title="No app yet">
            <p>
              Apps are created by a world file: apply one on the page <To href="/sandbox">Sandbox</To>, or by{' '}
              <code>./switchboard apply</code>.
            </p>
          </Empty>
        }
      >
        {({ apps, hasMore }) => <Connect apps={apps} hasMore={hasMore} named={named} />}
      </Loaded>
    </div>
  )
}

interface ConnectProps {
  readonly apps: readonly Node[]
  readonly hasMore: boolean
  readonly named: string
}

function Connect({ apps, hasMore, named }: ConnectProps) {
  const app = named === '' ? apps[0] : apps.find(({ id }) => id === named)
  return (
    <>
      <p class="app-choice">
        <select
          aria-label="App"
          dir="auto"
          value={app?.id ?? ''}
          onChange={(event) => setQuery({ app: event.currentTarget.value })}
        >
          {!app && <option value="">Choose an app</option>}
          {apps.map(({ id, name }) => (
            <option key={id} value={id}>
              {name ?? id}
            </option>
          ))}
        </select>
        {app && <To href={`/resources/${app.id}`}>{`App ${app.id}`}</To>}
        {hasMore && <To href="/resources?kind=application">All apps</To>}
      </p>
      {app ? (
        <>
          <Guide key={app.id} app={app} />
          <section class="card">
            <h2>Without a subscription</h2>
            <p>Forwards every event of the app to your server as it happens, and prints the response:</p>
            <Code
              label="In a terminal"
              text={`./switchboard listen --app ${app.id} --forward-to ${receiverUrl} --since 10m`}
            />
          </section>
        </>
      ) : (
        <Empty title="This app does not exist">
          <p>{`No app has the id ${named}. Choose one from the list.`}</p>
        </Empty>
      )}
    </>
  )
}

/** The steps for one app; those of another one begin without its secrets. */
function Guide({ app }: { readonly app: Node }) {
  const secrets = useSecrets(app.id)
  const connection = useLoaded(app.id, () => readConnection(app))
  return (
    <ol class="guide">
      <SecretsStep app={app.id} secrets={secrets} />
      <Receiver secrets={secrets} />
      <Subscribe app={app} verifyToken={secrets.verifyToken} connection={connection} />
      <FirstEvent app={app} connection={connection} />
    </ol>
  )
}
