export type Tone = 'good' | 'bad' | 'warn' | 'plain'

const tones: Readonly<Record<string, Tone>> = {
  delivered: 'good',
  done: 'good',
  failed: 'bad',
  failing: 'bad',
  down: 'bad',
  waiting: 'warn',
  paused: 'warn',
  running: 'warn',
}

/** The colour of a state of a webhook, a subscriber or a replay. */
export function toneOfState(state: string): Tone {
  return tones[state] ?? 'plain'
}
