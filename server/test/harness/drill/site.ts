import type { Environment } from './shell.ts'

export const forms = ['sqlite', 'postgres', 'objects', 'point-in-time'] as const
export type Form = (typeof forms)[number]

/** What goes on while a site is copied. */
export interface Load {
  /** What was acknowledged until now has to be in the copy. */
  readonly mark: () => void
  /** Resolves when so much more was acknowledged. */
  readonly goOn: () => Promise<void>
}

/** A database and files, which can be copied, lost and restored, as docs/keeping.md says. */
export interface Site {
  readonly roles: readonly ('all' | 'api' | 'worker')[]
  /** The settings of servers and commands; others after a restore. */
  readonly env: Environment
  /** Copies it under load. */
  backUp(load: Load): Promise<void>
  /** The database, the files and the folders of the servers are gone, but for the copy. */
  loseAll(): Promise<void>
  /** Brings it back, held. */
  restore(): Promise<void>
  end(): Promise<void>
}
