import { Type } from 'typebox'
import { serviceSecretWithin } from '../../db/secrets/stored-secrets.ts'
import { defineWrite } from '../../graph/define.ts'
import type { GraphError } from '../../graph/graph-error.ts'
import { createNode } from '../../graph/nodes.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { Refusal } from '../../graph/result.ts'
import { successSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { findAccount } from '../account/store.ts'
import { findCode, findPinHash, putPinHash, removeCode, setWrongTries } from './code-store.ts'
import { codeSecretName, hashCode, type Judgement, judgeCode } from './codes.ts'
import {
  accountIsFull,
  codeExpired,
  codeWrong,
  noCodeWaiting,
  numberOnPlatform,
  pinWrong,
  tooManyWrongCodes,
} from './errors.ts'
import { checkPin } from './pin.ts'
import { checkCodeForm, checkDeregistration, numberDefaults, readName, readNewNumber } from './rules.ts'
import { codeRequestSchema, codeVerificationSchema, numberCreationSchema, registrationSchema } from './schemas.ts'
import { sendNewCode } from './send-code.ts'
import { createdStates, moveNumber, verifiedAlready } from './states.ts'
import { countPhoneNumbers, insertPhoneNumber, lockPhoneNumber, updatePhoneNumber } from './store.ts'

const defaultLanguage = 'en_US'

/** Numbers of the demo world for the examples, in the states from which these operations start. */
const unverifiedNumber = '4000000000000002'
const sandboxNumber = '4000000000000003'

export function createNumber(): NewOperation {
  return defineWrite({
    name: 'phone_numbers.create',
    method: 'POST',
    path: '/{Version}/{Account-ID}/phone_numbers',
    sentence: 'Creates a phone number in an account and sends it a verification code by SMS.',
    permission: 'management',
    rateClass: 'number_creation',
    input: numberCreationSchema,
    output: Type.Object({ id: Type.String() }),
    examples: {
      input: { cc: '1', phone_number: '6315551005', verified_name: 'Lucky Shrub Deliveries' },
      output: { id: '4000000000000005' },
    },
    async run(context, input) {
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
      await sendNewCode(context, { id, ...number }, { kind: 'sms', language: defaultLanguage })
      return { id }
    },
  })
}

export function requestCode(): NewOperation {
  return defineWrite({
    name: 'phone_numbers.request_code',
    method: 'POST',
    path: '/{Version}/{Phone-Number-ID}/request_code',
    sentence: 'Sends a new verification code to a phone number; the earlier code becomes invalid.',
    permission: 'management',
    rateClass: 'request_code',
    input: codeRequestSchema,
    output: successSchema,
    examples: { input: { code_method: 'SMS', language: 'en_US' }, output: { success: true }, node: unverifiedNumber },
    async run(context, { code_method, language }) {
      const number = await lockPhoneNumber(context.db, context.node)
      if (verifiedAlready.when(number)) throw verifiedAlready.because()
      await sendNewCode(context, number, { kind: code_method === 'SMS' ? 'sms' : 'voice', language })
      return { success: true }
    },
  })
}

export function verifyCode(): NewOperation {
  return defineWrite({
    name: 'phone_numbers.verify_code',
    method: 'POST',
    path: '/{Version}/{Phone-Number-ID}/verify_code',
    sentence: 'Verifies a phone number with the code that was sent to it.',
    permission: 'management',
    input: codeVerificationSchema,
    output: Type.Object({ success: Type.Boolean(), id: Type.Optional(Type.String()) }),
    examples: {
      input: { code: '123456' },
      output: { success: true, id: unverifiedNumber },
      node: unverifiedNumber,
      first: [
        { send: 'phone_numbers.request_code' },
        { send: 'gateway.read_outbox', take: { pointer: '/data/0/code', as: 'code' } },
      ],
    },
    async run({ db, node, clock, random, settings }, { code }) {
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
      return { success: true, id: number.id }
    },
  })
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

export function registerNumber(vocabulary: Vocabulary): NewOperation {
  return defineWrite({
    name: 'phone_numbers.register',
    method: 'POST',
    path: '/{Version}/{Phone-Number-ID}/register',
    sentence: 'Registers a verified phone number on the platform, and sets or checks its two-step PIN.',
    permission: 'management',
    rateClass: 'registration',
    input: registrationSchema(vocabulary),
    output: successSchema,
    examples: {
      input: { messaging_product: vocabulary.product, pin: '123456' },
      output: { success: true },
      node: sandboxNumber,
    },
    async prepare({ db, node, random }, { pin }) {
      return checkPin(random, pin, await findPinHash(db, node.id))
    },
    async run({ db, node, clock, random }, { pin }, prepared) {
      const number = await lockPhoneNumber(db, node)
      if (number.registered) return { success: true }
      const registered = moveNumber(number, 'registered', clock.now())
      const stored = await findPinHash(db, node.id)
      // Somebody may have set another PIN since; then the slow check runs again here, which is rare.
      const checked = stored === prepared.against ? prepared : await checkPin(random, pin, stored)
      if (!checked.isRight) throw pinWrong()
      if (checked.hash !== stored) await putPinHash(db, node.id, checked.hash)
      await updatePhoneNumber(db, node, registered)
      return { success: true }
    },
  })
}

export function deregisterNumber(): NewOperation {
  return defineWrite({
    name: 'phone_numbers.deregister',
    method: 'POST',
    path: '/{Version}/{Phone-Number-ID}/deregister',
    sentence: 'Takes a registered phone number off the platform.',
    permission: 'management',
    rateClass: 'registration',
    input: Type.Object({}),
    output: successSchema,
    examples: { output: { success: true }, node: sandboxNumber },
    async run({ db, node, clock }) {
      checkDeregistration(await findAccount(db, node))
      const number = await lockPhoneNumber(db, node)
      await updatePhoneNumber(db, node, moveNumber(number, 'deregistered', clock.now()))
      return { success: true }
    },
  })
}
