/** A waiting delivery, with its event. */
export interface WaitingDelivery {
  readonly id: number
  readonly lane_id: string
  readonly event_id: number
  readonly account_id: string
  readonly field: string
  readonly conversation: string
  readonly attempts: number
  readonly earlier_attempts: number
  readonly due_time: number
  readonly started_time: number
  /** When the event was raised. */
  readonly created_time: number
  /** The delivery before it in its conversation; null when it is the head. */
  readonly previous_id: number | null
  /** 0 when the app's business has since lost access to the account: then it is ended, not sent. */
  readonly has_access: number
  /** Null when the value is so large that it is read only when it is sent. */
  readonly value: string | null
  /** The trace of the request that raised the event; null: of none. */
  readonly trace: string | null
  /** The span of that request, with its flags; null: not known. */
  readonly span: string | null
}
