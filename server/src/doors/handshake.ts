import type { InboundAdmission } from '../chapter.ts'
import { badArgument } from '../graph/define-error.ts'
import type { DoorPolicy } from '../http/admission.ts'
import type { PreparedRow } from '../http/route-table.ts'
import { hubModeWrong, questionRequired, verifyTokenUnknown } from './errors.ts'

const noHeaders = {}

/** `GET /{product}/webhooks`: whoever knows the verify token of an app: questions (400), wrong tokens so far (429), token (403). */
export function makeHandshakeDoor({ isVerifyToken }: InboundAdmission): DoorPolicy {
  return {
    async admit({ database, guesses }, route, { query, remote_address }, progress) {
      const row = route.rows.get(undefined) as PreparedRow
      progress.row = row
      const challenge = readQuestion(query, 'hub.challenge')
      const verify_token = readQuestion(query, 'hub.verify_token')
      const mode = readQuestion(query, 'hub.mode')
      if (mode !== 'subscribe') throw hubModeWrong()
      guesses.refuse(remote_address, verify_token)
      if (!(await isVerifyToken(database.read, verify_token))) {
        guesses.noteWrong(remote_address, { secret: verify_token })
        throw verifyTokenUnknown()
      }
      guesses.noteGood(verify_token)
      const values = { 'hub.mode': mode, 'hub.verify_token': verify_token, 'hub.challenge': challenge }
      return { row, caller: undefined, node: undefined, headers: noHeaders, sources: [{ typed: false, values }] }
    },
  }
}

function readQuestion(query: Readonly<Record<string, unknown>>, name: string): string {
  const value = query[name]
  if (typeof value !== 'string' || value === '') throw badArgument(questionRequired(name))
  return value
}
