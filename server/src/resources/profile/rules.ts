import type { Random } from '../../base/random.ts'
import type { Profile } from './store.ts'

/** A profile in which nothing was written yet. */
export const emptyProfile: Profile = {
  about: null,
  address: null,
  description: null,
  email: null,
  websites: null,
  vertical: null,
}

/** What a partial update sets: the members that are given; an empty text or list clears. */
export function readProfileUpdate(given: Readonly<Partial<Profile>>): Partial<Profile> {
  const { about, address, description, email, websites, vertical } = given
  return {
    ...(about !== undefined && { about }),
    ...(address !== undefined && { address: address || null }),
    ...(description !== undefined && { description: description || null }),
    ...(email !== undefined && { email: email || null }),
    ...(websites !== undefined && { websites: websites?.length ? websites : null }),
    ...(vertical !== undefined && { vertical }),
  }
}

/** 192 bits of chance: who was not given the address of a picture does not find it. */
export function makePictureId(random: Random): string {
  return random.bytes(24).toString('base64url')
}

export function pictureUrl(publicUrl: string, picture_id: string): string {
  return `${publicUrl}/pictures/${picture_id}`
}
