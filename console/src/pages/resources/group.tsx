import {
  type GroupsRetrieveResponse,
  groupsDelete,
  groupsInviteLinkCreate,
  groupsInviteLinkRetrieve,
  groupsParticipantsRemove,
  groupsRetrieve,
} from '@switchboard/client/methods'
import { nameUser, readUserNames } from '../../data/phone/names.ts'
import type { Node } from '../../data/types.ts'
import { go } from '../../router.ts'
import { confirmAction } from '../../ui/dialog.tsx'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { CopyButton, To, When } from '../../ui/parts.tsx'
import { attempt } from '../../ui/toast.tsx'
import { writeDigits } from '../phone/summarize.ts'
import { actFor } from './acting.ts'
import { AsJson, FactRow, Facts } from './facts.tsx'
import { listFacts } from './words.ts'

export function GroupBody({ node }: { readonly node: Node }) {
  const group = useLoaded(node.id, async () => {
    const [found] = await Promise.all([groupsRetrieve(await actFor(node), node.id), readUserNames()])
    return found
  })
  const remove = async () => {
    const isAgreed = await confirmAction({
      title: 'Delete the group?',
      text: 'Everybody leaves it, and its invite link becomes invalid. That cannot be undone.',
      action: 'Delete',
      isDangerous: true,
    })
    if (!isAgreed) return
    const isDone = await attempt(async () => groupsDelete(await actFor(node), node.id), 'The group is being deleted.')
    if (isDone) go('/resources?kind=group')
  }
  return (
    <>
      <Loaded of={group} what="the group">
        {(value) => (
          <>
            <section class="card">
              <h2>Facts</h2>
              <Facts of={listFacts(value, ['id', 'creation_timestamp', 'participants'])}>
                <FactRow name="Created">
                  <When at={new Date(Number(value.creation_timestamp) * 1000).toISOString()} />
                </FactRow>
              </Facts>
            </section>
            <Members node={node} group={value} reload={group.reload} />
            <InviteLink node={node} />
            <AsJson value={value} label={`GET /${node.id}`} />
          </>
        )}
      </Loaded>
      <p>
        <button type="button" class="danger" onClick={() => void remove()}>
          Delete the group
        </button>
      </p>
    </>
  )
}

interface MembersProps {
  readonly node: Node
  readonly group: GroupsRetrieveResponse
  readonly reload: () => Promise<void>
}

function Members({ node, group: { participants = [] }, reload }: MembersProps) {
  const remove = async (wa_id: string) => {
    const isAgreed = await confirmAction({
      title: 'Remove the member?',
      text: `${nameUser(wa_id) ?? writeDigits(wa_id)} no longer sees what is written in the group.`,
      action: 'Remove',
      isDangerous: true,
    })
    if (!isAgreed) return
    await attempt(async () => {
      await groupsParticipantsRemove(await actFor(node), node.id, { participants: [{ user: wa_id }] })
      await reload()
    }, 'The member is removed.')
  }
  return (
    <section class="card">
      <h2>Members</h2>
      {participants.length === 0 && <p class="soft">Nobody is in the group. Users join by its invite link.</p>}
      <ul class="plain-list">
        {participants.map(({ wa_id }) => (
          <li key={wa_id} class="row">
            <span class="grow">
              <bdi>
                <To href={`/resources/user-${wa_id}`}>{nameUser(wa_id) ?? writeDigits(wa_id)}</To>
              </bdi>
              {nameUser(wa_id) !== undefined && <span class="soft"> {writeDigits(wa_id)}</span>}
            </span>
            <button type="button" class="small" onClick={() => void remove(wa_id)}>
              Remove
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

function InviteLink({ node }: { readonly node: Node }) {
  const link = useLoaded(`link ${node.id}`, async () => groupsInviteLinkRetrieve(await actFor(node), node.id))
  const create = () =>
    attempt(async () => {
      await groupsInviteLinkCreate(await actFor(node), node.id)
      await link.reload()
    }, 'The group has a new invite link. Every earlier link is invalid.')
  const none = <p class="soft">The group has no invite link.</p>
  return (
    <section class="card">
      <h2>Invite link</h2>
      <Loaded of={link} what="the invite link" missing={none}>
        {({ invite_link }) => (
          <p class="row">
            <a href={invite_link} target="_blank" rel="noreferrer" class="break">
              {invite_link}
            </a>
            <CopyButton text={invite_link} />
          </p>
        )}
      </Loaded>
      <button type="button" class="small" onClick={() => void create()}>
        Create a new link
      </button>
    </section>
  )
}
