import {
  type OperatorAppsRetrieveResponse,
  operatorAppsRetrieve,
  operatorAppsUpdate,
} from '@switchboard/client/methods'
import { useMemo } from 'preact/hooks'
import { base, client } from '../../../data/http.ts'
import type { Node } from '../../../data/types.ts'
import { Loaded, useLoaded } from '../../../ui/load/loaded.tsx'
import { Empty } from '../../../ui/parts.tsx'
import { Edit, FactRow, Facts } from '../facts.tsx'
import { Connections } from './connections.tsx'
import { writeDialogAddress } from './dialog-address.ts'

type App = OperatorAppsRetrieveResponse

/** How businesses connect themselves to an app, and which have. */
export function SignUp({ node }: { readonly node: Node }) {
  const app = useLoaded(node.id, () => operatorAppsRetrieve(client, node.id))
  return (
    <>
      <Loaded of={app} what="the redirect URIs">
        {(value) => (
          <>
            <section class="card">
              <h2>Sign-up</h2>
              <SignUpFacts app={value} />
            </section>
            <Edit
              title="Edit the sign-up"
              writable={{
                redirect_uris: value.redirect_uris,
                require_appsecret_proof: value.require_appsecret_proof,
              }}
              save={async (json) => {
                await operatorAppsUpdate(client, node.id, json)
                await app.reload()
              }}
            />
          </>
        )}
      </Loaded>
      <Connections
        of={{ app_id: node.id }}
        empty={
          <Empty title="No business has connected itself to this app">
            <Loaded of={app} what="the redirect URIs">
              {(value) => <Begin app={value} />}
            </Loaded>
          </Empty>
        }
      />
    </>
  )
}

function SignUpFacts({ app }: { readonly app: App }) {
  const { redirect_uris, require_appsecret_proof } = app
  return (
    <>
      <Facts of={[]}>
        <FactRow name="Redirect URIs">{redirect_uris.join('\n') || 'None'}</FactRow>
        <FactRow name="Proof of the app secret">
          {require_appsecret_proof
            ? 'Required: every request with a token of the app must have appsecret_proof'
            : 'Optional: a wrong appsecret_proof is refused, and requests without one are accepted'}
        </FactRow>
      </Facts>
      {redirect_uris.length === 0 ? <AddRedirectUri /> : <DialogLink app={app} />}
    </>
  )
}

/** How the first business gets connected. */
function Begin({ app }: { readonly app: App }) {
  if (app.redirect_uris.length === 0) return <AddRedirectUri />
  return (
    <>
      <p>
        A business does that in a dialog, which your app opens. Agree to it as one of them to see what your app gets.
      </p>
      <DialogLink app={app} />
    </>
  )
}

function DialogLink({ app: { id, redirect_uris } }: { readonly app: App }) {
  const [redirect_uri = ''] = redirect_uris
  const state = useMemo(drawState, [])
  return (
    <p>
      <a href={writeDialogAddress(base, { app_id: id, redirect_uri, state })} target="_blank" rel="noreferrer">
        Open the sign-up dialog
      </a>
      <span class="soft">. At the end, the browser goes to {redirect_uri}</span>
    </p>
  )
}

/** As an app draws one, to know its own request again. */
function drawState(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8))
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

function AddRedirectUri() {
  return (
    <p class="soft">
      The sign-up dialog returns only to a redirect URI of the app, and the app has none. Add the address that your app
      is reached at after a sign-up under “Edit the sign-up”.
    </p>
  )
}
