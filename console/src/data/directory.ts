import { signal } from '@preact/signals'
import {
  type ClientOptions,
  gatewayPhoneNumbersList,
  operatorConnectionsList,
  operatorNodesList,
} from '@switchboard/client/methods'
import { isSignUp } from './connection-news.ts'
import { actAs, client } from './http.ts'
import { readService, service, watch } from './live.ts'
import type { Node, PhoneNumber } from './types.ts'

/** The numbers of the businesses, for whoever has to choose one. */
export const numbers = signal<readonly PhoneNumber[]>([])
/** Whether they are known: before that, none is no news. */
export const isDirectoryRead = signal(false)
export const apps = signal<readonly Node[]>([])
const accounts = signal<readonly Node[]>([])
const businesses = signal<readonly Node[]>([])

const pageSize = 500
/** Of each kind. Whoever has more finds one by the search. */
const mostNamed = 2000

interface Page<T> {
  readonly data: readonly T[]
  readonly paging?: { readonly cursors?: { readonly after?: string }; readonly next?: string }
}

/** All pages of a list, up to a limit. */
async function readAll<T>(read: (page: { limit: number; after?: string }) => Promise<Page<T>>): Promise<readonly T[]> {
  const all: T[] = []
  let after: string | undefined
  do {
    const { data, paging } = await read({ limit: pageSize, ...(after !== undefined && { after }) })
    all.push(...data)
    after = paging?.next === undefined ? undefined : paging.cursors?.after
  } while (after !== undefined && all.length < mostNamed)
  return all
}

/** Whether the directory could not be read, and nobody is reading it. */
let isBroken = false

export async function readDirectory(): Promise<void> {
  isBroken = false
  try {
    await readNamed()
  } catch (error) {
    isBroken = true
    throw error
  }
}

/** Reads the names that all pages show, if they could not be read before. */
export async function repairDirectory(): Promise<void> {
  if (isBroken) await readDirectory().catch(() => undefined)
}

/** Reads all that pages share and could not be read before: the names, and the counts of the service. */
export async function readMissing(): Promise<void> {
  await Promise.all([repairDirectory(), service.peek() === undefined && readService()])
}

/** Those that come together are read once. */
const signUpPause = 1000

/** Reads the names again after a sign-up, which may have created a business, an account and a number. */
export function followSignUps(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = watch((item) => {
    if (!isSignUp(item)) return
    timer ??= setTimeout(() => {
      timer = undefined
      void readDirectory().catch(() => undefined)
    }, signUpPause)
  })
  return () => {
    stop()
    clearTimeout(timer)
  }
}

async function readNamed(): Promise<void> {
  const list = (kind: string) => readAll((page) => operatorNodesList(client, { kind, ...page }))
  const [found, apped, accounted, owned] = await Promise.all([
    readAll((page) => gatewayPhoneNumbersList(client, page)),
    list('application'),
    list('account'),
    list('business'),
  ])
  apps.value = apped
  accounts.value = accounted
  businesses.value = owned
  numbers.value = found
  isDirectoryRead.value = true
}

export function nameOf(id: string | null | undefined): string {
  if (!id) return ''
  const number = numbers.value.find((one) => one.id === id)
  if (number) return number.display_phone_number
  const node = [...apps.value, ...accounts.value, ...businesses.value].find((one) => one.id === id)
  return node?.name ?? id
}

/** What a number calls itself, for its users. */
export function nameNumber(id: string): string {
  const number = numbers.value.find((one) => one.id === id)
  return number?.verified_name || number?.display_phone_number || id
}

export function digitsOf(number: Pick<PhoneNumber, 'display_phone_number'>): string {
  return number.display_phone_number.replaceAll(/\D/g, '')
}

/** The newest version of the API. */
export function version(): string {
  return service.value?.newest_version ?? 'v23.0'
}

type Vocabulary = NonNullable<ClientOptions['vocabulary']>

/** The name of the product on the wire. */
export function product(): Vocabulary {
  return (service.value?.vocabulary as Vocabulary | undefined) ?? 'msgapp'
}

/** The client as an app has it, for the API of its business. */
export function businessClient(app_id: string): typeof client {
  // Its types are those of the first vocabulary: what only the second one has is named where it is shown.
  const vocabulary = product() as 'msgapp'
  return client.withOptions({ headers: actAs(app_id), version: version(), vocabulary })
}

/** An app of the business that owns something. */
export function appOf(business_id: string): string | undefined {
  return apps.value.find((app) => app.business_id === business_id)?.id
}

/** The business that owns an account. */
export function businessOf(account_id: string | undefined): string | undefined {
  return accounts.value.find(({ id }) => id === account_id)?.business_id
}

/** The app that acts on an account unless another is chosen: one of the business that owns it. */
export function findAppForAccount(account_id: string): string | undefined {
  const business = businessOf(account_id)
  return business === undefined ? undefined : appOf(business)
}

/** An app to which an account is connected by a sign-up: a business that came by one has none of its own. */
export async function findConnectedApp(account_id: string): Promise<string | undefined> {
  const { data } = await operatorConnectionsList(client, { account_id, state: 'live', limit: 1 })
  return data[0]?.app_id
}

/** The client as an app has it that may act on an account. */
export async function clientForAccount(account_id: string): Promise<typeof client> {
  const app = findAppForAccount(account_id) ?? (await findConnectedApp(account_id))
  if (app === undefined) throw new Error('The business that owns this has no app that can act on it.')
  return businessClient(app)
}
