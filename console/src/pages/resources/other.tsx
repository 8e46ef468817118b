import { schedulesList } from '@switchboard/client/methods'
import type { Node } from '../../data/types.ts'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { To } from '../../ui/parts.tsx'
import { actFor, findAppOf, readAsBusiness } from './acting.ts'
import { AsJson, Facts } from './facts.tsx'
import { nameKinds } from './kinds.ts'
import { People } from './people.tsx'
import { Connections } from './sign-up/connections.tsx'
import { listFacts } from './words.ts'

/** Kinds that the API reads by their id alone. */
const readable = new Set(['business', 'account_number', 'bot', 'solution', 'migration_intent', 'upload'])

async function read(node: Node): Promise<object | undefined> {
  if (node.kind === 'schedule' && node.account_id !== undefined) {
    for await (const one of schedulesList(await actFor(node), node.account_id, { limit: 100 })) {
      if (one.id === node.id) return one
    }
    return undefined
  }
  // A business that came by a sign-up has no app that could read it.
  if (node.kind === 'business' && (await findAppOf(node.id)) === undefined) return undefined
  return readable.has(node.kind) ? readAsBusiness(node) : undefined
}

/** An object without a page of its own kind: its facts. */
export function OtherBody({ node }: { readonly node: Node }) {
  const loaded = useLoaded(node.id, () => read(node))
  return (
    <>
      {node.kind === 'business' && <Owned business={node.id} />}
      <Loaded
        of={loaded}
        what="the facts"
        isEmpty={(value) => value === undefined}
        empty={<p class="soft">The API returns nothing more about it.</p>}
      >
        {(value) =>
          value && (
            <>
              <section class="card">
                <h2>Facts</h2>
                <Facts of={listFacts(value, ['id'])} />
              </section>
              <AsJson value={value} label={`GET /${node.id}`} />
            </>
          )
        }
      </Loaded>
      {node.kind === 'business' && (
        <>
          <People business={node.id} />
          <Connections
            of={{ business_id: node.id }}
            empty={<p class="soft">Nobody has connected an account of the business to an app by a sign-up.</p>}
          />
        </>
      )}
    </>
  )
}

function Owned({ business }: { readonly business: string }) {
  return (
    <p class="links">
      {['account', 'application', 'phone_number', 'template'].map((kind) => (
        <To key={kind} href={`/resources?kind=${kind}&business=${business}`}>
          {nameKinds(kind)}
        </To>
      ))}
    </p>
  )
}
