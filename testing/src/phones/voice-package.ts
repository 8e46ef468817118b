import type { Switchboard } from '@switchboard/client'
import type { SoundCallResult } from './call-with-sound.ts'

/**
 * What is used of the package `@switchboard/voice`, which many projects do not have: their compilers need not find it, so the build
 * takes this in the place of its types. Within this repository a compiler checks both against each other.
 */
export declare function callWithSound(client: Switchboard, request: VoiceCallRequest): Promise<SoundCallResult>

export interface VoiceCallRequest {
  readonly with: { readonly to: string; readonly from: string }
  readonly audio?: string | undefined
  readonly record?: string | undefined
  readonly dtmf?: string | undefined
  readonly loss?: number | undefined
  readonly durationMs?: number | undefined
  readonly addresses?: readonly string[] | undefined
  /** Kept when the user is to hang up at once. */
  readonly stopped?: Promise<void> | undefined
}
