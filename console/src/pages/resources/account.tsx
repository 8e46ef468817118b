import { useSignal } from '@preact/signals'
import { type WebhooksLinkedAppsListResponse, webhooksLinkedAppsList } from '@switchboard/client/methods'
import type { Node } from '../../data/types.ts'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { To } from '../../ui/parts.tsx'
import { actFor, changeAsBusiness, readAsBusiness } from './acting.ts'
import { AsJson, Edit, Facts } from './facts.tsx'
import { nameKinds } from './kinds.ts'
import { Connections } from './sign-up/connections.tsx'
import { CreateTemplate } from './template/create.tsx'
import { listFacts } from './words.ts'

const fields =
  'name,timezone_id,account_review_status,business_verification_status,country,ownership_type,primary_business_location,message_template_namespace'
const kindsWithin = ['phone_number', 'template', 'group', 'media', 'schedule', 'bot']

interface Account {
  readonly name?: string
  readonly timezone_id?: string
}

export function AccountBody({ node }: { readonly node: Node }) {
  const account = useLoaded(node.id, () => readAsBusiness(node, '', fields))
  const apps = useLoaded(`apps ${node.id}`, async () => webhooksLinkedAppsList(await actFor(node), node.id))
  const isCreating = useSignal(false)
  return (
    <>
      <p class="links">
        {kindsWithin.map((kind) => (
          <To key={kind} href={`/resources?kind=${kind}&account=${node.id}`}>
            {nameKinds(kind)}
          </To>
        ))}
        <To href={`/access?view=audit&account=${node.id}`}>Audit log</To>
        <button
          type="button"
          class="small"
          onClick={() => {
            isCreating.value = true
          }}
        >
          Create a template
        </button>
      </p>
      <Loaded of={account} what="the account">
        {(value: Account) => (
          <>
            <section class="card">
              <h2>Facts</h2>
              <Facts of={listFacts(value, ['id'])} />
            </section>
            <Edit
              title="Edit"
              writable={{ name: value.name, timezone_id: value.timezone_id }}
              save={async (json) => {
                await changeAsBusiness(node, '', json)
                await account.reload()
              }}
            />
            <AsJson value={value} label={`GET /${node.id}?fields=${fields}`} />
          </>
        )}
      </Loaded>
      <section class="card">
        <h2>Linked apps</h2>
        <Loaded
          of={apps}
          what="the linked apps"
          isEmpty={({ data }) => data.length === 0}
          empty={<p class="soft">No app gets the events of this account.</p>}
        >
          {({ data }) => <LinkedApps all={data} />}
        </Loaded>
      </section>
      <Connections
        of={{ account_id: node.id }}
        empty={<p class="soft">Nobody has connected the account to an app by a sign-up.</p>}
      />
      {isCreating.value && (
        <CreateTemplate
          node={node}
          onClose={() => {
            isCreating.value = false
          }}
        />
      )}
    </>
  )
}

function LinkedApps({ all }: { readonly all: WebhooksLinkedAppsListResponse['data'] }) {
  return (
    <ul class="plain-list">
      {all.map(({ whatsapp_business_api_data: { id, name }, override_callback_uri }) => (
        <li key={id}>
          <To href={`/resources/${id}`}>{name}</To>
          {override_callback_uri !== undefined && <span class="soft">{` at ${override_callback_uri}`}</span>}
        </li>
      ))}
    </ul>
  )
}
