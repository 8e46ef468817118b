import type { Transaction } from '../../db/database.ts'
import { serviceSecretWithin } from '../../db/secrets/stored-secrets.ts'
import type { Context } from '../../graph/context.ts'
import type { GraphError } from '../../graph/graph-error.ts'
import { createNode } from '../../graph/nodes.ts'
import { Refusal } from '../../graph/result.ts'
import { findCode, removeCode, setWrongTries } from './code-store.ts'
import { codeSecretName, hashCode, type Judgement, judgeCode } from './codes.ts'
import { accountIsFull, codeExpired, codeWrong, noCodeWaiting, numberOnPlatform, tooManyWrongCodes } from './errors.ts'
import { checkCodeForm, numberDefaults, readName, readNewNumber } from './rules.ts'
import type { CodeMethod, NumberCreation } from './schemas.ts'
import { sendNewCode } from './send-code.ts'
import { createdStates, moveNumber, verifiedAlready } from './states.ts'
import { countPhoneNumbers, insertPhoneNumber, lockPhoneNumber, updatePhoneNumber } from './store.ts'

/*
 * How a number comes to an account, for the API and for the dialog of the sign-up: the same rules, whoever adds it.
 */

type Adding = Pick<Context<Transaction>, 'db' | 'node' | 'clock' | 'random' | 'settings'>

export const defaultLanguage = 'en_US'

/** Creates a number in the account that is the context's node, sends it a code, and returns its id. */
export async function addNumber(context: Adding, input: NumberCreation, method: CodeMethod): Promise<string> {
  const { db, node, clock, random, settings } = context
  const number = readNewNumber(input)
  const verified_name = readName('verified_name', input.verified_name)
  if ((await countPhoneNumbers(db, node)) >= settings.maxNumbersPerAccount) {
    throw accountIsFull({ max: settings.maxNumbersPerAccount })
  }
  const owner = { business_id: node.business_id, account_id: node.id }
  const id = await createNode(db, random, 'phone_number', owner)
  const isNew = await insertPhoneNumber(db, {
    id,
    account_number_id: await createNode(db, random, 'account_number', owner),
    account_id: node.id,
    ...number,
    verified_name,
    ...numberDefaults,
    ...createdStates,
    creation_time: clock.now(),
  })
  if (!isNew) throw numberOnPlatform()
  await sendNewCode(context, { id, ...number }, { kind: kindOf(method), language: defaultLanguage })
  return id
}

/** Sends a new code to the number that is the context's node. */
export async function sendCodeAgain(context: Adding, method: CodeMethod, language: string): Promise<void> {
  const number = await lockPhoneNumber(context.db, context.node)
  if (verifiedAlready.when(number)) throw verifiedAlready.because()
  await sendNewCode(context, number, { kind: kindOf(method), language })
}

function kindOf(method: CodeMethod): 'sms' | 'voice' {
  return method === 'SMS' ? 'sms' : 'voice'
}

/** Verifies the number that is the context's node; a wrong code, which counts, is returned. */
export async function verifyNumber(
  { db, node, clock, random, settings }: Adding,
  code: string,
): Promise<Refusal | undefined> {
  checkCodeForm(code, settings.verificationCodeDigits)
  const now = clock.now()
  const number = await lockPhoneNumber(db, node)
  const verified = moveNumber(number, 'code_verified', now)

  const hash = hashCode(await serviceSecretWithin(db, random, codeSecretName), number.id, code)
  const limit = settings.rateLimitsOn ? settings.wrongCodeLimit : undefined
  const judgement = judgeCode(await findCode(db, number.id), hash, now, limit)
  if (judgement.outcome === 'wrong') {
    await setWrongTries(db, number.id, judgement.tries)
    return new Refusal(describeJudgement(judgement))
  }
  if (judgement.outcome !== 'right') throw describeJudgement(judgement)
  await removeCode(db, number.id)
  await updatePhoneNumber(db, node, verified)
  return undefined
}

function describeJudgement(judgement: Exclude<Judgement, { outcome: 'right' }>): GraphError {
  switch (judgement.outcome) {
    case 'missing':
      return noCodeWaiting()
    case 'expired':
      return codeExpired()
    case 'blocked':
      return tooManyWrongCodes({ seconds: judgement.milliseconds / 1000 })
    case 'wrong': {
      const { triesLeft } = judgement
      const left = triesLeft === undefined ? '' : ` (tries left: ${triesLeft})`
      return codeWrong({ left })
    }
  }
}
