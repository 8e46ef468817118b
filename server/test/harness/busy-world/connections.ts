import { accountOfCrowd, signUpAtOnce } from '../sign-up-pages.ts'
import type { Doors } from './doors.ts'
import type { BusySize } from './sizes.ts'
import { busyApps, busyIds } from './world.ts'

/** Businesses that connected themselves to the partner's app, by its dialog; every fifth connection has ended. */
export async function makeConnections(doors: Doors, { connections }: BusySize): Promise<void> {
  const accounts = [busyIds.emptyAccount, ...Array.from({ length: connections }, (_, index) => accountOfCrowd(index))]
  for (const account_id of accounts) await signUpAtOnce(doors.url, { client_id: busyApps.partner.id, account_id })
  const { data } = await doors.operator('GET', `connections?limit=${accounts.length}`)
  for (const [index, { id }] of (data as { id: string }[]).entries()) {
    if (index % 5 === 4) await doors.operator('DELETE', `connections/${id}`)
  }
}
