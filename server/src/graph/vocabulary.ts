import { type Habits, haveHabits } from './habits.ts'

/**
 * What differs on the wire between the two public vocabularies: names and habits. Chosen once at the start; rows and schemas are made
 * from it, and no other code knows that there are two.
 */
export interface Vocabulary {
  readonly name: 'msgapp' | 'whatsapp'
  /** The product's name: the value of `messaging_product`, and a part of path segments, objects and scopes. */
  readonly product: string
  /** The member of an error with the trace of the request. */
  readonly trace_member: string
  /** The header with the trace, on every response. */
  readonly trace_header: string
  /** The `object` of webhook envelopes and subscriptions. */
  readonly account_object: string
  /** How it differs from the specification besides the names. */
  readonly habits: Habits
}

export const vocabularyNames = ['msgapp', 'whatsapp'] as const
export type VocabularyName = (typeof vocabularyNames)[number]

const vocabularies: Record<VocabularyName, Vocabulary> = {
  msgapp: {
    name: 'msgapp',
    product: 'msgapp',
    trace_member: 'svctrace_id',
    trace_header: 'x-svctrace-id',
    account_object: 'msgapp_business_account',
    habits: haveHabits(false),
  },
  whatsapp: {
    name: 'whatsapp',
    product: 'whatsapp',
    trace_member: 'fbtrace_id',
    trace_header: 'x-fbtrace-id',
    account_object: 'whatsapp_business_account',
    habits: haveHabits(true),
  },
}

/** The values that a client sends in a member of their own. */
const sentNames = ['product', 'account_object'] as const

/** The vocabulary in which `given` is what `own` is in another one; undefined when it is no such name. */
export function findOtherVocabulary(own: unknown, given: unknown): VocabularyName | undefined {
  if (given === own) return undefined
  const names = sentNames.filter((name) => vocabularyNames.some((known) => vocabularies[known][name] === own))
  return vocabularyNames.find((other) => names.some((name) => vocabularies[other][name] === given))
}

export function chooseVocabulary(name: VocabularyName): Vocabulary {
  return vocabularies[name]
}
