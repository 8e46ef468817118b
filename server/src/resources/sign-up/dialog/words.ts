import type { Scope } from '../../../graph/caller.ts'

export interface ScopeWords {
  readonly title: string
  readonly text: string
}

/** What a person reads before agreeing: what the app may do then, for each scope that a business can agree to. */
const words: Partial<Record<Scope, ScopeWords>> = {
  msgapp_business_messaging: {
    title: 'Send and receive messages',
    text: 'It writes to people from the numbers of the account, reads what they answer, and makes and takes calls.',
  },
  msgapp_business_management: {
    title: 'Manage the account',
    text: 'It changes the account, its numbers, their profiles and settings, message templates and webhooks, and adds numbers.',
  },
  business_management: {
    title: 'See the business',
    text: 'It reads the name and the portfolio of the business, and takes part in solutions with other partners for it.',
  },
}

export function describeScope(scope: Scope): ScopeWords {
  const found = words[scope]
  if (!found) throw new Error(`the scope ${scope} is not one that a business agrees to`)
  return found
}
