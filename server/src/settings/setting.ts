import type { Environment } from '../base/environment.ts'
import { BadSetting, integer } from '../base/setting-parsers.ts'
import { parseRate, type Rate } from '../limits/classes.ts'
import type { Config } from './config.ts'

/** Who has to agree on a setting; docs/settings.md has one table for each group. */
export const groups = {
  process: {
    title: 'Settings of a process',
    sentence:
      'Each process may have its own: where it listens, what it does, what it logs, and how much it holds at once.',
  },
  platform: {
    title: 'Rules of the platform',
    sentence:
      'The same in every process of one database: otherwise the response to a request depends on the process that serves it.',
  },
  limits: {
    title: 'Rate limits',
    sentence:
      'The same in every process of one database. So many calls in so long: `100/1s`, or several with commas, all of which hold. Periods are written with `ms`, `s`, `m`, `h` or `d`.',
  },
} as const

export type SettingGroup = keyof typeof groups

/** One setting: its name, its group, its default for people, one sentence, and its parser. */
export interface Setting<T> {
  readonly name: string
  readonly group: SettingGroup
  readonly shownDefault: string
  readonly sentence: string
  /** Throws with what form is right. */
  readonly parse: (text: string) => T
  readonly fallback: (soFar: Partial<Config>, environment: Environment) => T
  /** Whether its value is never shown, not even when it is wrong. */
  readonly isSecret?: boolean
}

export function define<T>(setting: Setting<T>): Setting<T> {
  return setting
}

export const kibibyte = 1024
export const mebibyte = 1024 * kibibyte

export function defineMaxBytes(name: string, sentence: string, bytes: number): Setting<number> {
  const parse = integer(1, 1 << 30)
  return { name, group: 'platform', shownDefault: String(bytes), sentence, parse, fallback: () => bytes }
}

export function rate(text: string): Rate {
  const parsed = parseRate(text)
  if (!parsed) throw new BadSetting('a rate such as 5/15m')
  return parsed
}

export function rates(text: string): readonly Rate[] {
  const parsed = text.split(',').map(parseRate)
  const right = parsed.filter((one) => one !== undefined)
  if (right.length < parsed.length) throw new BadSetting('a rate such as 1/1d, or several with commas')
  return right
}
