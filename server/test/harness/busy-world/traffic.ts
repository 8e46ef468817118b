import { day, minute } from '../../../src/base/time/duration.ts'
import { Chance } from '../seeded-random.ts'
import { BusyCalls } from './calls.ts'
import { BusyChat, type ChatTools } from './chats.ts'
import type { BusyClock } from './clock.ts'
import type { Doors } from './doors.ts'
import { uploadFiles } from './messages.ts'
import { makeCustomers, people } from './people.ts'
import { makeResources } from './resources.ts'
import { playScene } from './scene.ts'
import type { BusySize } from './sizes.ts'
import { busyApps, busyIds } from './world.ts'

/** How long ago the traffic begins, and how long ago apps are linked. */
export const pastDays = 10
const subscribedDays = 2

export interface TrafficDeps {
  readonly doors: Doors
  readonly clock: BusyClock
  readonly size: BusySize
  /** Resolves when everything that is due has happened. */
  readonly settle: () => Promise<void>
  /** From now on a subscriber does what it does at the end. */
  readonly breakSubscriber: (which: 'failing' | 'slow') => void
}

/** Makes ten days of traffic through the doors of a server, the same for the same size. */
export async function makeTraffic(deps: TrafficDeps): Promise<void> {
  const { doors, clock, size } = deps
  const chance = new Chance(20_261_118)
  const end = Date.now()
  const files = await uploadFiles(doors, size.photos)
  const tools: ChatTools = { doors, chance, files, now: () => clock.now() }
  const chats = makeChats(tools, size)
  await makeFirstDays(deps, chance, chats, end - subscribedDays * day)
  await linkApps(doors, { isPartnerLinked: true })
  await makeResources(doors)
  await makeLastDays(deps, chats, end - 20 * minute)
  await playScene(tools, clock, deps.settle, end)
  deps.breakSubscriber('slow')
  await actOnLane(doors, busyApps.slow.id, 'resume')
  await deps.settle()
}

interface Chats {
  readonly longest: BusyChat
  readonly others: readonly BusyChat[]
}

/** Chats of everybody who writes with the first number, and of customers with the other numbers. */
function makeChats(tools: ChatTools, size: BusySize): Chats {
  const { ada, blocked, blocking, silent, unreachable, ...writing } = people
  const customers = makeCustomers(size.customers)
  const firstNumber = [...Object.values(writing), ...customers].map(({ wa_id }) => wa_id)
  // Every sixth number is not registered.
  const registered = Array.from({ length: Math.max(size.numbers - 3, 0) }, (_, index) => index).filter(
    (n) => n % 6 !== 5,
  )
  const otherNumbers = registered.map((index) => String(4_000_000_000_000_100 + index))
  return {
    longest: new BusyChat(tools, busyIds.number, ada.wa_id),
    others: [
      ...firstNumber.map((user) => new BusyChat(tools, busyIds.number, user)),
      ...otherNumbers.map(
        (number, index) => new BusyChat(tools, number, firstNumber[index % firstNumber.length] ?? ''),
      ),
      ...otherNumbers.slice(0, 8).map((number) => new BusyChat(tools, number, ada.wa_id)),
    ],
  }
}

/** While nobody is subscribed: one message of the longest chat a round, some of others beside it, and changes of resources. */
async function makeFirstDays(
  { doors, clock, size }: TrafficDeps,
  chance: Chance,
  chats: Chats,
  end: number,
): Promise<void> {
  const rounds = size.longestChat
  const start = clock.now()
  let others = 0
  let changes = 0
  for (let round = 1; round <= rounds; round++) {
    clock.moveTo(start + ((end - start) * round) / rounds)
    const work = [chats.longest.goOn()]
    const wanted = Math.round((size.otherMessages * round) / rounds)
    // The sides of a chat wait for each other, so that a chat goes on at most once a round.
    const first = chance.below(chats.others.length)
    for (let next = 0; others < wanted && next < chats.others.length; next++, others++) {
      work.push(chats.others[(first + next) % chats.others.length]?.goOn() ?? Promise.resolve())
    }
    for (; changes < (size.changes * round) / rounds; changes++) work.push(change(doors, changes))
    await Promise.all(work)
  }
}

async function change(doors: Doors, index: number): Promise<void> {
  switch (index % 3) {
    case 0:
      await doors.business(`${busyIds.number}/msgapp_business_profile`, { about: `Plants for windowsill ${index}` })
      return
    case 1:
      await doors.business(`${busyIds.number}/message_qrdls`, { prefilled_message: `Is offer ${index} still there?` })
      return
    default:
      await doors.business(busyIds.emptyAccount, { name: `Lucky Shrub Events, week ${index}` })
  }
}

/** Links the apps to the first account; without the partner, its webhooks that still wait are withdrawn. */
async function linkApps(doors: Doors, { isPartnerLinked }: { readonly isPartnerLinked: boolean }): Promise<void> {
  const { good, failing, slow, partner } = busyApps
  const account = {
    id: busyIds.account,
    business_id: busyIds.business,
    name: 'Lucky Shrub Retail',
    shared_with: isPartnerLinked ? [busyIds.partner] : [],
    subscribed_apps: [good, failing, slow, ...(isPartnerLinked ? [partner] : [])].map(({ id }) => id),
  }
  await doors.operator('POST', 'world', { accounts: [account] })
}

/**
 * While apps are subscribed: messages and a call a round. The partner's app is unlinked early. Later one subscriber breaks, and one is
 * paused: a subscriber that does not answer would make every round wait for it.
 */
async function makeLastDays(deps: TrafficDeps, chats: Chats, end: number): Promise<void> {
  const { doors, clock, size, settle } = deps
  const calls = new BusyCalls(doors, clock, settle)
  const callers = [people.arabic, people.long, ...makeCustomers(size.customers).slice(0, 3)]
  const { rounds } = size
  const start = clock.now()
  for (let round = 1; round <= rounds; round++) {
    clock.moveTo(Math.max(clock.now(), start + ((end - start) * round) / rounds))
    const first = round * 5
    const next = Array.from({ length: 5 }, (_, index) => chats.others[(first + index * 3) % chats.others.length])
    await Promise.all([chats.longest.goOn(), ...[...new Set(next)].map((chat) => chat?.goOn())])
    await calls.make(round - 1, callers[round % callers.length]?.wa_id ?? '')
    if (round === Math.ceil(rounds / 5)) await linkApps(doors, { isPartnerLinked: false })
    if (round === Math.ceil((rounds * 7) / 10)) {
      deps.breakSubscriber('failing')
      await actOnLane(doors, busyApps.slow.id, 'pause')
    }
    await settle()
  }
}

async function actOnLane(doors: Doors, app_id: string, action: 'pause' | 'resume'): Promise<void> {
  const { data } = await doors.operator('GET', `lanes?app_id=${app_id}`)
  await doors.operator('POST', `lanes/${data[0].id}`, { action })
}
