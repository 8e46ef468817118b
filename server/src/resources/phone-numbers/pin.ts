import { type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { Random } from '../../base/keys/random.ts'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

/** Six digits have a million values, so each guess at a stolen hash must be expensive. */
const cost = { N: 16_384, r: 8, p: 1 }
const saltBytes = 16
const hashBytes = 32

/** `scrypt:N:r:p:salt:hash`, so that other costs can be used later. */
export async function hashPin(random: Random, pin: string): Promise<string> {
  const salt = random.bytes(saltBytes)
  const hash = await derive(pin, salt, hashBytes, cost)
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join(':')
}

export async function isRightPin(pin: string, stored: string): Promise<boolean> {
  const [method, N, r, p, salt = '', hash = ''] = stored.split(':')
  if (method !== 'scrypt') throw new Error(`a PIN is hashed with ${method}, which this version does not know`)
  const expected = Buffer.from(hash, 'base64url')
  const found = await derive(pin, Buffer.from(salt, 'base64url'), expected.length, {
    N: Number(N),
    r: Number(r),
    p: Number(p),
  })
  return timingSafeEqual(found, expected)
}

/** A PIN compared with the one stored at that time. */
export interface CheckedPin {
  readonly against: string | undefined
  readonly isRight: boolean
  /** What to store: the existing hash, or that of the first PIN. */
  readonly hash: string
}

/** Checks a PIN, or makes it the first. Takes tens of milliseconds: for `prepare`, not for a transaction. */
export async function checkPin(random: Random, pin: string, stored: string | undefined): Promise<CheckedPin> {
  if (stored === undefined) return { against: stored, isRight: true, hash: await hashPin(random, pin) }
  return { against: stored, isRight: await isRightPin(pin, stored), hash: stored }
}
