import type { OnVoiceEvent, VoiceEvent } from '../platform/voice-events.ts'

/** Where a command writes: what happens, and what went wrong. */
export interface Output {
  readonly out: (line: string) => void
  readonly problem: (line: string) => void
}

/** Writes what happens: an object a line for programs, otherwise sentences. */
export function makeEventWriter({ out, problem }: Output, json: boolean): OnVoiceEvent {
  if (!json) return (event) => (event.event === 'error' ? problem : out)(describe(event))
  return (happened) => {
    const { event, ...rest } = happened
    out(JSON.stringify({ event, time: new Date().toISOString(), ...rest }))
    if (happened.event === 'error') problem(happened.message)
  }
}

function describe(event: VoiceEvent): string {
  switch (event.event) {
    case 'ready':
      return `switchboard agent ready: ${event.mode} at ${event.number}`
    case 'call':
      return `call ${event.direction === 'USER_INITIATED' ? 'of' : 'to'} ${event.user_wa_id}: ${event.call_id}`
    case 'connected':
      return `connected after ${event.ms} ms`
    case 'dtmf':
      return `key ${event.key}`
    case 'ended': {
      const { packets, lost, hz, level } = event.heard
      const sound = hz === null ? 'silence' : `${hz} Hz at ${level} dBFS`
      const by = event.by === 'lost' ? 'the connection was lost' : `ended by the ${event.by}`
      return `${by}: heard ${sound} in ${packets} packets (${lost} lost), sent ${event.sent.packets}`
    }
    default:
      return event.message
  }
}
