/** Lanes by id, a list of deliveries, and who records them. */
export interface RecordParameters {
  readonly lanes: object
  readonly deliveries: object
  readonly owner: string
  readonly until: number
  readonly now: number
}
