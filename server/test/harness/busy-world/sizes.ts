/** How much of everything a busy world has. */
export interface BusySize {
  /** Messages of the longest chat, that of Ada with the first number. */
  readonly longestChat: number
  /** Messages of all other chats from before somebody subscribed. */
  readonly otherMessages: number
  /** Rounds of traffic while three apps are subscribed; each has about six messages and a call. */
  readonly rounds: number
  readonly customers: number
  readonly numbers: number
  readonly apps: number
  readonly tokens: number
  /** Changes of resources; they are in the audit log, as everything that the business sends is. */
  readonly changes: number
  readonly groups: number
  readonly photos: number
  /** Businesses that connected themselves to the partner's app, each with a person. */
  readonly connections: number
}

/** Every list of the console has more than one page. */
export const wholeSize: BusySize = {
  ...{ longestChat: 1300, otherMessages: 3200, rounds: 100, customers: 40 },
  ...{ numbers: 64, apps: 56, tokens: 260, changes: 60, groups: 12, photos: 6, connections: 60 },
}

/** The same kinds of things, few of each: for tests of every run. */
export const smallSize: BusySize = {
  ...{ longestChat: 24, otherMessages: 24, rounds: 8, customers: 4 },
  ...{ numbers: 3, apps: 4, tokens: 6, changes: 4, groups: 2, photos: 1, connections: 2 },
}
