import type { BusinessProfilesTable } from '../../db/tables.ts'

type Profile = Omit<BusinessProfilesTable, 'phone_number_id'>

/** A profile in which nothing was written yet. */
export const emptyProfile: Profile = {
  about: null,
  address: null,
  description: null,
  email: null,
  websites: null,
  vertical: null,
}

/** What a partial update sets: the members that are given, and an empty text clears. */
export function readProfileUpdate(given: Readonly<Partial<Profile>>): Partial<Profile> {
  const { about, address, description, email, websites, vertical } = given
  return {
    ...(about !== undefined && { about }),
    ...(address !== undefined && { address: address || null }),
    ...(description !== undefined && { description: description || null }),
    ...(email !== undefined && { email: email || null }),
    ...(websites !== undefined && { websites }),
    ...(vertical !== undefined && { vertical }),
  }
}
