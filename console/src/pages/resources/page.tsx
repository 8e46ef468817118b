import { operatorNodesList } from '@switchboard/client/methods'
import type { ComponentChildren } from 'preact'
import { nameOf } from '../../data/directory.ts'
import { client } from '../../data/http.ts'
import type { Node } from '../../data/types.ts'
import { beginUpper } from '../../ui/begin-upper.ts'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { Empty, Head, To } from '../../ui/parts.tsx'
import { AccountBody } from './account.tsx'
import { AppBody } from './app.tsx'
import { GroupBody } from './group.tsx'
import { nameKind, nameKinds } from './kinds.ts'
import { MediaBody } from './media.tsx'
import { NumberBody } from './number.tsx'
import { OtherBody } from './other.tsx'
import { PersonBody } from './people.tsx'
import './resources.css'
import { TemplateBody } from './template/body.tsx'
import { UserPage } from './user.tsx'

/** Users are no objects of a business: their address says so. */
const userAddress = /^user-(\d+)$/

/** One object, as its own business sees it. */
export function ResourcePage({ id }: { readonly id: string }) {
  const user = userAddress.exec(id)?.[1]
  return user === undefined ? <NodePage id={id} /> : <UserPage wa_id={user} />
}

async function findNode(id: string): Promise<Node | undefined> {
  const { data } = await operatorNodesList(client, { q: id, limit: 20 })
  return data.find((one) => one.id === id)
}

function NodePage({ id }: { readonly id: string }) {
  const node = useLoaded(id, () => findNode(id))
  return (
    <div class="page page-resources">
      <Loaded of={node} what="the resource" isEmpty={(found) => found === undefined} empty={<Missing id={id} />}>
        {(found) => found && <Resource node={found} />}
      </Loaded>
    </div>
  )
}

function Missing({ id }: { readonly id: string }) {
  return (
    <>
      <Head title="This resource does not exist" />
      <Empty title={`Nothing has the id ${id}`}>
        <p>
          It may have been deleted, or a reset has removed it. <To href="/resources">All resources</To>
        </p>
      </Empty>
    </>
  )
}

function Resource({ node }: { readonly node: Node }) {
  const { id, kind, name, account_id, business_id } = node
  return (
    <>
      <Head title={name ?? `${beginUpper(nameKind(kind))} ${id}`}>
        <To href={`/resources?kind=${kind}`}>{nameKinds(kind)}</To>
        <To href="/resources">All resources</To>
      </Head>
      <p class="owner">
        <span>{beginUpper(nameKind(kind))}</span> <span class="mono">{id}</span>
        {account_id && kind !== 'account' && (
          <span>
            Account <To href={`/resources/${account_id}`}>{nameOf(account_id)}</To>
          </span>
        )}
        {kind !== 'business' && (
          <span>
            Business <To href={`/resources/${business_id}`}>{nameOf(business_id)}</To>
          </span>
        )}
      </p>
      <Body node={node} />
    </>
  )
}

function Body({ node }: { readonly node: Node }): ComponentChildren {
  switch (node.kind) {
    case 'phone_number':
      return <NumberBody node={node} />
    case 'template':
      return <TemplateBody node={node} />
    case 'group':
      return <GroupBody node={node} />
    case 'media':
      return <MediaBody node={node} />
    case 'application':
      return <AppBody node={node} />
    case 'account':
      return <AccountBody node={node} />
    case 'business_user':
      return <PersonBody node={node} />
    default:
      return <OtherBody node={node} />
  }
}
