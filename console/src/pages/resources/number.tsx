import {
  businessProfilesRetrieve,
  complianceRetrieve,
  conversationalAutomationRetrieve,
  encryptionKeysRetrieve,
  type PhoneNumbersListItem,
  phoneNumbersList,
} from '@switchboard/client/methods'
import { product } from '../../data/directory.ts'
import type { Node } from '../../data/types.ts'
import { place, setQuery } from '../../router.ts'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { To } from '../../ui/parts.tsx'
import { actFor, changeAsBusiness } from './acting.ts'
import { AsJson, Edit, FactRow, Facts, Status } from './facts.tsx'
import { GroupList } from './group-list.tsx'
import { QrCodes } from './qr-codes.tsx'
import { listFacts, nameValue } from './words.ts'

const parts = [
  ['', 'Overview'],
  ['profile', 'Business profile'],
  ['qr', 'QR codes'],
  ['groups', 'Groups'],
  ['bot', 'Bot'],
  ['compliance', 'Compliance'],
  ['encryption', 'Encryption key'],
] as const

export function NumberBody({ node }: { readonly node: Node }) {
  const part = place.value.query.get('part') ?? ''
  return (
    <>
      <p class="links">
        <To href={`/live?number=${node.id}`}>Live</To>
        <To href={`/deliveries?number=${node.id}`}>Deliveries</To>
        <To href={`/calls?number=${node.id}`}>Calls</To>
        <To href={`/access?view=audit&node=${node.id}`}>Audit log</To>
      </p>
      <fieldset class="tabs" aria-label="Part of the phone number">
        {parts.map(([name, title]) => (
          <button type="button" key={name} aria-pressed={name === part} onClick={() => setQuery({ part: name })}>
            {title}
          </button>
        ))}
      </fieldset>
      <Part key={part} node={node} part={part} />
    </>
  )
}

function Part({ node, part }: { readonly node: Node; readonly part: string }) {
  switch (part) {
    case 'profile':
      return <Profile node={node} />
    case 'qr':
      return <QrCodes node={node} />
    case 'groups':
      return <GroupList node={node} />
    case 'bot':
      return (
        <Record
          what="the bot"
          node={node}
          read={async () => conversationalAutomationRetrieve(await actFor(node), node.id)}
        />
      )
    case 'compliance':
      return <Record what="the compliance record" node={node} read={() => readFirst(node, complianceRetrieve)} />
    case 'encryption':
      return <Record what="the encryption key" node={node} read={() => readFirst(node, encryptionKeysRetrieve)} />
    default:
      return <Overview node={node} />
  }
}

type ListRead = (
  client: Awaited<ReturnType<typeof actFor>>,
  id: string,
) => Promise<{ readonly data: readonly object[] }>

/** Some records come as a list of one. */
async function readFirst(node: Node, read: ListRead): Promise<object> {
  const { data } = await read(await actFor(node), node.id)
  return data[0] ?? {}
}

/** The list of the account says more about a number than the number itself. */
async function findNumber(node: Node): Promise<PhoneNumbersListItem | undefined> {
  if (node.account_id === undefined) return undefined
  for await (const one of phoneNumbersList(await actFor(node), node.account_id, { limit: 100 })) {
    if (one.id === node.id) return one
  }
  return undefined
}

function Overview({ node }: { readonly node: Node }) {
  const number = useLoaded(node.id, () => findNumber(node))
  return (
    <Loaded
      of={number}
      what="the phone number"
      isEmpty={(value) => value === undefined}
      empty={<p class="soft">The account does not list this number.</p>}
    >
      {(value) => value && <NumberFacts node={node} number={value} />}
    </Loaded>
  )
}

function NumberFacts({ node, number }: { readonly node: Node; readonly number: PhoneNumbersListItem }) {
  const { status, quality_rating, display_phone_number } = number
  return (
    <>
      <section class="card">
        <h2>{display_phone_number}</h2>
        <Facts of={listFacts(number, ['id', 'display_phone_number', 'status', 'quality_rating'])}>
          {status !== undefined && (
            <FactRow name="Status">
              <Status value={status} words={nameValue(status)} />
            </FactRow>
          )}
          {quality_rating !== undefined && (
            <FactRow name="Quality">
              <Status value={quality_rating} words={nameValue(quality_rating)} />
            </FactRow>
          )}
        </Facts>
      </section>
      <Edit
        title="Edit the settings"
        writable={{ new_display_name: number.verified_name, username: number.username }}
        save={(json) => changeAsBusiness(node, '', json)}
      />
      <AsJson value={number} label={`GET /${node.account_id}/phone_numbers`} />
    </>
  )
}

interface Profile {
  readonly about?: string
  readonly address?: string
  readonly description?: string
  readonly email?: string
  readonly websites?: readonly string[]
  readonly vertical?: string
  readonly profile_picture_url?: string
}

function Profile({ node }: { readonly node: Node }) {
  const profile = useLoaded(`profile ${node.id}`, async (): Promise<Profile> => {
    const { data } = await businessProfilesRetrieve(await actFor(node), node.id)
    const [first = {}] = data as readonly object[]
    return 'business_profile' in first ? (first.business_profile as Profile) : first
  })
  return (
    <Loaded of={profile} what="the business profile">
      {(value) => {
        const { about = '', address = '', description = '', email = '', websites = [], vertical = 'OTHER' } = value
        return (
          <>
            <section class="card">
              {value.profile_picture_url !== undefined && (
                <img class="picture" src={value.profile_picture_url} alt="The business" />
              )}
              <Facts of={listFacts(value, ['messaging_product', 'profile_picture_url', 'id'])} />
              {listFacts(value, ['messaging_product']).length === 0 && <p class="soft">The profile is empty.</p>}
            </section>
            <Edit
              title="Edit the business profile"
              writable={{ about, address, description, email, websites, vertical }}
              save={async (json) => {
                const edge = `${product()}_business_profile`
                await changeAsBusiness(node, edge, { messaging_product: product(), ...json })
                await profile.reload()
              }}
            />
            <AsJson value={value} label={`GET /${node.id}/${product()}_business_profile`} />
          </>
        )
      }}
    </Loaded>
  )
}

interface RecordProps {
  readonly node: Node
  readonly what: string
  readonly read: () => Promise<object>
}

function Record({ node, what, read }: RecordProps) {
  const record = useLoaded(`${what} ${node.id}`, read)
  const none = (
    <p class="soft">{`The number does not have ${what.replace(/^the /, 'a ').replace('a encryption', 'an encryption')}.`}</p>
  )
  return (
    <Loaded of={record} what={what} missing={none}>
      {(value) => {
        const facts = listFacts(value, ['messaging_product', 'id'])
        return (
          <>
            {facts.length === 0 ? (
              none
            ) : (
              <section class="card">
                <Facts of={facts} />
              </section>
            )}
            <AsJson value={value} label={`GET /${node.id}`} />
          </>
        )
      }}
    </Loaded>
  )
}
