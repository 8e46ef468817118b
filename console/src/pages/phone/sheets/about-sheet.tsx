import { businessProfilesRetrieve, groupsRetrieve } from '@switchboard/client/methods'
import { clientForAccount, nameNumber, numbers } from '../../../data/directory.ts'
import type { ChatKey } from '../../../data/phone/chat-key.ts'
import { nameUser } from '../../../data/phone/names.ts'
import { Loaded, useLoaded } from '../../../ui/load/loaded.tsx'
import { Avatar } from '../avatar.tsx'
import { writeDigits } from '../summarize.ts'
import { Sheet } from './sheet.tsx'

interface Props {
  readonly chatKey: ChatKey
  readonly onClose: () => void
}

/** What a user sees of the other side of a chat. */
export function AboutSheet({ chatKey, onClose }: Props) {
  return chatKey.group_id === undefined ? (
    <AboutBusiness id={chatKey.phone_number_id} onClose={onClose} />
  ) : (
    <AboutGroup id={chatKey.group_id} number={chatKey.phone_number_id} onClose={onClose} />
  )
}

/** The client of the business that has a number. */
async function clientOf(phone_number_id: string) {
  const number = numbers.value.find(({ id }) => id === phone_number_id)
  if (!number) throw new Error('The number is not known. Load the page again.')
  return clientForAccount(number.account_id)
}

function AboutBusiness({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const profile = useLoaded(id, async () => {
    const { data } = await businessProfilesRetrieve(await clientOf(id), id)
    return data[0]?.business_profile ?? {}
  })
  const name = nameNumber(id)
  const number = numbers.value.find((one) => one.id === id)
  return (
    <Sheet title="Business info" onClose={onClose}>
      <p class="about-name">
        <Avatar name={name} />
        <span>
          <b dir="auto">{name}</b>
          <br />
          <span class="soft">{number?.display_phone_number}</span>
        </span>
      </p>
      <Loaded of={profile} what="the profile">
        {({ about, description, address, email, websites = [], vertical }) => (
          <dl>
            <Row name="About" value={about} />
            <Row name="Description" value={description} />
            <Row name="Address" value={address} />
            <Row name="Email" value={email} />
            <Row name="Websites" value={websites.join(', ')} />
            <Row name="Industry" value={vertical?.replaceAll('_', ' ').toLowerCase()} />
          </dl>
        )}
      </Loaded>
    </Sheet>
  )
}

function Row({ name, value }: { readonly name: string; readonly value: string | undefined }) {
  if (!value) return null
  return (
    <div class="info-row">
      <dt>{name}</dt>
      <dd dir="auto">{value}</dd>
    </div>
  )
}

function AboutGroup({
  id,
  number,
  onClose,
}: {
  readonly id: string
  readonly number: string
  readonly onClose: () => void
}) {
  const group = useLoaded(id, async () =>
    groupsRetrieve(await clientOf(number), id, { fields: ['subject', 'description', 'participants'] }),
  )
  return (
    <Sheet title="Group info" onClose={onClose}>
      <Loaded of={group} what="the group">
        {({ subject, description, participants = [] }) => (
          <>
            <dl>
              <Row name="Subject" value={subject} />
              <Row name="Description" value={description} />
              <Row name="Business" value={nameNumber(number)} />
            </dl>
            <h5>{participants.length === 1 ? '1 member' : `${participants.length} members`}</h5>
            <ul>
              {participants.map(({ wa_id }) => (
                <li key={wa_id} class="info-row">
                  <span dir="auto">{nameUser(wa_id) ?? 'No name'}</span>
                  <span class="soft">{writeDigits(wa_id)}</span>
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </Sheet>
  )
}
