import { findNameProblems } from '../resources/account/rules.ts'
import { findCommandProblems } from '../resources/bot/rules.ts'
import { findComplianceProblems } from '../resources/compliance/rules.ts'
import { findSubjectProblems } from '../resources/groups/rules.ts'
import { findScheduleProblems } from '../resources/schedules/rules.ts'
import { inBatches } from './batches.ts'
import type { Problems } from './refused.ts'
import type { Things } from './things.ts'

/** Holds the file against the rules that need no store: those of the chapters, and that nothing is there twice. */
export async function checkFile(things: Things, problems: Problems): Promise<void> {
  for (const { given, place } of things.accounts) problems.addAll(place, findNameProblems(given.name))
  for (const { given, place } of things.groups) problems.addAll(place, findSubjectProblems(given.subject))
  for (const { given, place } of things.schedules) problems.addAll(place, findScheduleProblems(given))
  for (const { given, place } of things.bots) problems.addAll(place, findCommandProblems(given.commands ?? []))
  for (const { given, place } of things.tokens) {
    if (given.expires_at !== undefined && Number.isNaN(Date.parse(given.expires_at))) {
      problems.add(`${place}.expires_at`, 'it must be a time such as 2027-01-31T12:00:00Z.')
    }
  }
  await checkNumbers(things, problems)
  checkRepeats(things, problems)
}

async function checkNumbers({ numbers }: Things, problems: Problems): Promise<void> {
  const digits = new Repeats(problems)
  const usernames = new Repeats(problems)
  for await (const batch of inBatches(numbers)) {
    for (const { given, place, parsed } of batch) {
      digits.note(parsed.phone_number, `${place}.display_phone_number`, 'that phone number')
      if (given.username) usernames.note(given.username, `${place}.username`, 'that username')
      if (given.compliance) problems.addAll(`${place}.compliance`, findComplianceProblems(given.compliance))
    }
  }
}

function checkRepeats({ tokens, qrCodes, bots, schedules, permissions }: Things, problems: Problems): void {
  const secrets = new Repeats(problems)
  for (const { given, place } of tokens) secrets.note(given.token, `${place}.token`, 'that token')
  const codes = new Repeats(problems)
  for (const { given, place } of qrCodes) codes.note(given.code, `${place}.code`, 'that code')
  const served = new Repeats(problems)
  for (const { given, place } of bots) {
    if (given.phone_number_id !== undefined) {
      served.note(given.phone_number_id, `${place}.phone_number_id`, 'that phone number')
    }
  }
  const names = new Repeats(problems)
  for (const { given, place, account } of schedules) {
    names.note(`${account.id} ${given.name}`, `${place}.name`, 'that name in the same account')
  }
  const pairs = new Repeats(problems)
  for (const { given, place } of permissions) {
    pairs.note(`${given.phone_number_id} ${given.user_wa_id}`, place, 'that phone number and user')
  }
}

/** Complains of values that the file gives a second time. */
class Repeats {
  readonly #problems: Problems
  readonly #places = new Map<string, string>()

  constructor(problems: Problems) {
    this.#problems = problems
  }

  note(value: string, place: string, what: string): void {
    const first = this.#places.get(value)
    if (first === undefined) this.#places.set(value, place)
    else this.#problems.add(place, `${first} has ${what} already; give another, or leave one of them out.`)
  }
}
