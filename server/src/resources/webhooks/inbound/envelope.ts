import type { TSchema } from 'typebox'
import { badArgument } from '../../../graph/define-error.ts'
import { compileCheck as compileSchema, findUnstorableText } from '../../../graph/input/validation.ts'
import type { Vocabulary } from '../../../graph/vocabulary.ts'
import { neitherMessagesNorStatuses } from '../errors.ts'
import { defaultField, groupFieldStart, makeEnvelopeSchemas } from './envelope-schemas.ts'
import { commonMessage, interactiveKinds, type MessageKind, messageKinds } from './message-kinds.ts'

/** A valid envelope: the members named here exist and have these types. */
export interface Envelope {
  readonly entry: readonly {
    readonly id: string
    readonly changes: readonly { readonly field?: string; readonly value: ChangeValue }[]
  }[]
}

export interface ChangeValue {
  readonly metadata?: { readonly phone_number_id: string }
  readonly messages?: readonly { readonly id: string }[]
  readonly statuses?: readonly ReportedStatus[]
}

export interface ReportedStatus {
  readonly id: string
  readonly status: string
  readonly timestamp: string
  readonly recipient_id: string
  /** The member of a group that it is about. */
  readonly recipient_participant_id?: unknown
}

type Check = (value: unknown, place: string) => void
type Message = { readonly type: MessageKind; readonly interactive?: { readonly type: keyof typeof interactiveKinds } }
type Value = Readonly<Record<string, unknown>>

/** Makes the function that validates a whole envelope, or throws a 400 that names the place. */
export function makeEnvelopeCheck(vocabulary: Vocabulary): (body: unknown) => asserts body is Envelope {
  const schemas = makeEnvelopeSchemas(vocabulary)
  const checkShell = compileCheck(schemas.shell)
  const checkMessages = compileCheck(schemas.messages)
  const checkSystem = compileCheck(schemas.system)
  const checkStatuses = compileCheck(schemas.statuses)
  const checkGroups = compileCheck(schemas.groups)
  const checkOther = compileCheck(schemas.other)
  const checkMessage = compileMessageCheck()

  function checkMessagesValue(value: Value, place: string): void {
    if (!Object.hasOwn(value, 'messages') && !Object.hasOwn(value, 'statuses')) {
      throw badArgument(neitherMessagesNorStatuses(place))
    }
    if (Object.hasOwn(value, 'messages')) {
      const { messages } = value
      const isSystem = Array.isArray(messages) && messages.length > 0 && messages.every(isSystemMessage)
      const check = isSystem ? checkSystem : checkMessages
      check(value, place)
      for (const [index, message] of (messages as unknown[]).entries()) {
        checkMessage(message, `${place}.messages[${index}]`)
      }
    }
    if (Object.hasOwn(value, 'statuses')) checkStatuses(value, place)
  }

  return (body) => {
    checkShell(body, '')
    const { entry } = body as Envelope
    for (const [entryIndex, { changes }] of entry.entries()) {
      for (const [changeIndex, { field = defaultField, value }] of changes.entries()) {
        const place = `entry[${entryIndex}].changes[${changeIndex}].value`
        if (field === defaultField) checkMessagesValue(value as Value, place)
        else if (field.startsWith(groupFieldStart)) checkGroups(value, place)
        else checkOther(value, place)
      }
    }
  }
}

function isSystemMessage(message: unknown): boolean {
  return typeof message === 'object' && message !== null && (message as { type?: unknown }).type === 'system'
}

/** Makes the function that checks one message of a user, or throws the 400 that names the place. */
export function compileMessageCheck(): Check {
  const checkCommon = compileCheck(commonMessage)
  const checkKind = compileChecks(messageKinds)
  const checkReply = compileChecks(interactiveKinds)
  return (message, place) => {
    checkCommon(message, place)
    const unstorable = findUnstorableText((message as { id: string }).id, `${place}.id`)
    if (unstorable) throw badArgument(unstorable)
    const { type, interactive } = message as Message
    checkKind[type](message, place)
    if (type === 'interactive' && interactive) checkReply[interactive.type](message, place)
  }
}

function compileChecks<Name extends string>(schemas: Record<Name, TSchema>): Record<Name, Check> {
  const checks = Object.entries<TSchema>(schemas).map(([name, schema]) => [name, compileCheck(schema)])
  return Object.fromEntries(checks) as Record<Name, Check>
}

function compileCheck(schema: TSchema): Check {
  const check = compileSchema(schema)
  return (value, place) => {
    const problem = check(value)
    if (problem)
      throw badArgument({ ...problem, place: [place, problem.place].filter((part) => part !== '').join('.') })
  }
}
