import { AllMethods } from './generated/all-methods.ts'
import { Webhooks } from './webhooks/methods.ts'

/** The client of a Switchboard server: every method of every door, grouped by chapter. */
export class Switchboard extends AllMethods {
  override readonly webhooks: Webhooks = new Webhooks(this)
}
