import { AllMethods } from './generated/all-methods.ts'

/** The client of a Switchboard server. */
export class Switchboard extends AllMethods {}
