import { Type } from 'typebox'
import { defineWrite } from '../../graph/define.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { successSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { findAccount } from '../account/store.ts'
import { addNumber, sendCodeAgain, verifyNumber } from './adding.ts'
import { findPinHash, putPinHash } from './code-store.ts'
import { pinWrong } from './errors.ts'
import { checkPin } from './pin.ts'
import { checkDeregistration } from './rules.ts'
import { codeRequestSchema, codeVerificationSchema, numberCreationSchema, registrationSchema } from './schemas.ts'
import { moveNumber } from './states.ts'
import { lockPhoneNumber, updatePhoneNumber } from './store.ts'

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
    run: async (context, input) => ({ id: await addNumber(context, input, 'SMS') }),
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
      await sendCodeAgain(context, code_method, language)
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
    run: async (context, { code }) => (await verifyNumber(context, code)) ?? { success: true, id: context.node.id },
  })
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
