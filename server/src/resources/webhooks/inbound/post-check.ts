import type { Transaction } from '../../../db/database.ts'
import { invalidSignature, notFound } from '../../../graph/errors.ts'
import type { GraphError } from '../../../graph/graph-error.ts'
import { isNodeId } from '../../../graph/nodes.ts'
import type { RecentlyVerifiedNumber } from '../../messages/public.ts'
import type { ChangeValue } from './envelope.ts'
import { defaultField } from './envelope-schemas.ts'
import type { KnownNumbers } from './known-numbers.ts'
import type { Receipt } from './post.ts'
import { type Fact, listFactsForReceiver } from './receiver-store.ts'

/** A change of an account that the caller may send events for, with the digits and the owner of its number. */
export interface GivenChange {
  readonly account_id: string
  readonly phone_number_id: string | null
  /** The owner of the number; null where there is none. */
  readonly business_id: string | null
  readonly field: string
  readonly value: ChangeValue
}

/** The existing objects that posts name, by kind, id and account: the digits and the owner of numbers. */
export type Facts = ReadonlyMap<string, Pick<Fact, 'digits' | 'business_id'>>

/** How many objects one statement looks up. */
const batchSize = 500

/** Looks up the accounts and numbers that posts name, and whether the signers may send events for the accounts. */
export async function findFacts(
  tx: Transaction,
  receipts: readonly Pick<Receipt, 'envelope' | 'signer'>[],
  known?: KnownNumbers,
): Promise<Facts> {
  const things = new Map<string, readonly ['accounts' | 'numbers' | 'links', string, string]>()
  for (const { envelope, signer } of receipts) {
    for (const { id, changes } of envelope.entry) {
      if (!isNodeId(id)) continue
      if (signer) things.set(`${signer.app_id} ${id}`, ['links', signer.app_id, id])
      else things.set(id, ['accounts', id, ''])
      for (const { value } of changes) {
        const number = value.metadata?.phone_number_id
        if (number !== undefined && isNodeId(number)) things.set(`number ${number}`, ['numbers', number, ''])
      }
    }
  }
  const facts = new Map<string, Pick<Fact, 'digits' | 'business_id'>>()
  const all = [...things.values()]
  for (let start = 0; start < all.length; start += batchSize) {
    const named = { accounts: {}, numbers: {}, links: {} } as Record<string, Record<string, unknown>>
    for (const [kind, id, account_id] of all.slice(start, start + batchSize)) {
      const list = named[kind] as Record<string, unknown>
      if (kind === 'links') list[`${id} ${account_id}`] = [id, account_id]
      else list[id] = 1
    }
    const found = await listFactsForReceiver(tx, named as never)
    for (const fact of found) facts.set(keyOf(fact.kind, fact.id, fact.account_id), fact)
    known?.note(Object.keys(named['numbers'] ?? {}), found)
  }
  return facts
}

/** The facts about accounts whose numbers are as given. */
export function factsOf(numbers: Iterable<RecentlyVerifiedNumber>): Facts {
  const facts = new Map<string, Pick<Fact, 'digits' | 'business_id'>>()
  for (const number of numbers) {
    const { id, account_id } = number
    facts.set(keyOf('account', account_id, account_id), number).set(keyOf('number', id, account_id), number)
  }
  return facts
}

/** The changes of a post, or the reason to refuse it. Checked in the transaction that stores it: the signer was found before. */
export function checkPost({ accounts, signer, envelope }: Receipt, facts: Facts): GivenChange[] | GraphError {
  const changes: GivenChange[] = []
  for (const entry of envelope.entry) {
    const account_id = entry.id
    if (signer) {
      if (!facts.has(keyOf('link', signer.app_id, account_id))) return invalidSignature()
    } else {
      const isAllowed = accounts?.has(account_id) ?? true
      if (!isAllowed || !facts.has(keyOf('account', account_id, account_id))) return notFound()
    }
    for (const { field = defaultField, value } of entry.changes) {
      if (!value.metadata) {
        changes.push({ account_id, phone_number_id: null, business_id: null, field, value })
        continue
      }
      const { phone_number_id } = value.metadata
      const number = facts.get(keyOf('number', phone_number_id, account_id))
      if (!number) return notFound()
      const { digits, business_id } = number
      const withNumber = { ...value, metadata: { ...value.metadata, display_phone_number: digits } }
      changes.push({ account_id, phone_number_id, business_id, field, value: withNumber })
    }
  }
  return changes
}

function keyOf(kind: Fact['kind'], id: string, account_id: string): string {
  return `${kind} ${id} ${account_id}`
}
