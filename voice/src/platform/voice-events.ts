import type { CallSummary } from '../media/call-sound.ts'

export type Direction = 'USER_INITIATED' | 'BUSINESS_INITIATED'

/** Who ended a call; `lost`: its connection was gone. */
export type EndedBy = 'user' | 'business' | 'lost'

/** What happens at a peer, in the order in which it happens. */
export type VoiceEvent =
  | { readonly event: 'ready'; readonly number: string; readonly mode: string }
  | { readonly event: 'call'; readonly call_id: string; readonly direction: Direction; readonly user_wa_id: string }
  | { readonly event: 'connected'; readonly call_id: string; readonly ms: number }
  | { readonly event: 'dtmf'; readonly call_id: string; readonly key: string }
  | ({ readonly event: 'ended'; readonly call_id: string; readonly by: EndedBy } & CallSummary)
  | { readonly event: 'error'; readonly call_id?: string; readonly message: string }

export type OnVoiceEvent = (event: VoiceEvent) => void
