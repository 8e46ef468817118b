import { describeSession, type Session } from './session.ts'

/** How loud both sides are, from 0 to 1. */
interface Levels {
  readonly mine: number
  readonly theirs: number
}

/** The sound of one call: the one place where a phone meets its media. */
export interface CallMedia {
  /** Whether anything can be heard; without it a call has neither a microphone to mute nor tones to send. */
  readonly hasSound: boolean
  /** What the phone says about its media, to be sent when it calls. */
  offer(): Promise<Session>
  /** The same when it is called; undefined where the business has offered nothing. */
  answer(offered: string | undefined): Promise<Session | undefined>
  setMuted(isMuted: boolean): void
  /** Sends the tone of a key: a digit, `*` or `#`. */
  sendKey(key: string): void
  levels(): Levels
  close(): void
}

/** Media of a call whose signalling is real and which carries no sound. A voice peer takes its place. */
export function openCallMedia(): CallMedia {
  return {
    hasSound: false,
    offer: async () => describeSession('offer'),
    answer: async (offered) => (offered === undefined ? undefined : describeSession('answer')),
    setMuted() {},
    sendKey() {},
    levels: () => ({ mine: 0, theirs: 0 }),
    close() {},
  }
}
