import { type OperatorAppsRetrieveResponse, operatorAppsRetrieve } from '@switchboard/client/methods'
import { useMemo } from 'preact/hooks'
import { base, client, isSandbox } from '../../../data/http.ts'
import type { Node } from '../../../data/types.ts'
import { Loaded, useLoaded } from '../../../ui/load/loaded.tsx'
import { Empty, To } from '../../../ui/parts.tsx'
import { FactRow, Facts } from '../facts.tsx'
import { Connections } from './connections.tsx'
import { writeDialogAddress } from './dialog-address.ts'

type App = OperatorAppsRetrieveResponse

/** How businesses connect themselves to an app, and which have. */
export function SignUp({ node }: { readonly node: Node }) {
  const app = useLoaded(node.id, () => operatorAppsRetrieve(client, node.id))
  return (
    <>
      <section class="card">
        <h2>Sign-up</h2>
        <Loaded of={app} what="the redirect URIs">
          {(value) => <SignUpFacts app={value} />}
        </Loaded>
      </section>
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
            ? 'Demanded: every request with a token of the app needs appsecret_proof'
            : 'Checked where a request has appsecret_proof, not demanded'}
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
      <span class="soft">, which sends the browser to {redirect_uri} in the end</span>
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
      The sign-up dialog returns only to a redirect URI of the app, and the app has none. Add <code>redirect_uris</code>{' '}
      to the app in a world file, and apply it{' '}
      {isSandbox && (
        <>
          on the page <To href="/sandbox">Sandbox</To>, or{' '}
        </>
      )}
      by <code>./switchboard apply</code>.
    </p>
  )
}
