import type { Switchboard } from '@switchboard/client'
import type { SoundCallResult } from './sound-call.ts'

/**
 * What is used of the package `@switchboard/voice`. Many projects do not have it, so the built library must not need its types: the
 * build takes these in their place. Within this repository the compiler checks both against each other.
 */
export declare function callWithSound(client: Switchboard, request: VoiceCallRequest): Promise<SoundCallResult>

interface VoiceCallRequest {
  readonly with: { readonly to: string; readonly from: string }
  readonly audio?: string | undefined
  readonly record?: string | undefined
  readonly dtmf?: string | undefined
  readonly loss?: number | undefined
  readonly durationMs?: number | undefined
  readonly addresses?: readonly string[] | undefined
  /** Resolves when the user is to hang up at once. */
  readonly stopped?: Promise<void> | undefined
}
