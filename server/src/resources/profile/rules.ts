import type { Random } from '../../base/keys/random.ts'
import type { Profile } from './store.ts'

/** An empty profile. */
export const emptyProfile: Profile = {
  about: null,
  address: null,
  description: null,
  email: null,
  websites: null,
  vertical: null,
}

/** The columns of a partial update: the given members; an empty text or list clears. */
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

/** 192 random bits: nobody can guess the address of a picture. */
export function makePictureId(random: Random): string {
  return random.bytes(24).toString('base64url')
}

export function pictureUrl(publicUrl: string, picture_id: string): string {
  return `${publicUrl}/pictures/${picture_id}`
}
