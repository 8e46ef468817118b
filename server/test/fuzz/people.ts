import { createHmac } from 'node:crypto'
import { accounts, ids, numbers, partnerIds, qrCodes, strangerIds, tokens, users } from '../harness/world.ts'
import type { FuzzedOperation } from './document.ts'
import type { Draw } from './draw.ts'
import type { MemoryOfAnswers } from './memory-of-answers.ts'

/** What a path may name instead of an id. None is a path of its own when it is escaped. */
const absurdIds = [
  '0',
  '-1',
  '1e15',
  '99999999999999999999',
  'null',
  'undefined',
  '__proto__',
  "1' OR '1'='1",
  'upload:',
  'upload:../../etc/passwd',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '%',
  '..',
  '🌱'.repeat(50),
  'x'.repeat(4000),
  ' 1000000000000001',
  '１０００００００００００００１',
  '1000000000000001;4000000000000001',
]
const unknownIds = ['1000000000000777', '4000000000000777', '999999999999999', 'upload:nobodyHasThisOne']

/** More than one of a kind, where the world has them. */
const more: Readonly<Record<string, readonly string[]>> = {
  account: Object.values(accounts),
  phone_number: Object.values(numbers),
  application: [ids.application, partnerIds.application],
  business: [ids.business, partnerIds.business],
}

/** The chapter whose responses contain ids of a kind. */
const chapterOf: Readonly<Record<string, string>> = {
  group: 'groups',
  media: 'media',
  schedule: 'schedules',
  solution: 'solutions',
  upload: 'uploads',
  phone_number: 'phone-numbers',
}

/** An id for a path: usually one of the right kind, sometimes of another, of another tenant, of nobody, or none at all. */
export function chooseId(draw: Draw, operation: FuzzedOperation, kind: string, memory: MemoryOfAnswers): string {
  const known = [...(more[kind] ?? [ids[kind as keyof typeof ids]].filter((id) => id !== undefined))]
  const learned = memory.idsOf(chapterOf[kind] ?? '')
  const lot = draw.index(100)
  if (lot < 25 && learned.length > 0) return draw.pick(learned)
  if (lot < (endsThings(operation) ? 32 : 78) && known.length > 0) return draw.pick(known)
  if (lot < 84) return draw.pick(Object.values(ids))
  if (lot < 90) return draw.pick(Object.values(strangerIds))
  if (lot < 94) return draw.pick(unknownIds)
  return draw.pick(absurdIds)
}

/** What is gone can be met by nobody, so what the world began with is seldom ended. */
function endsThings({ method, name }: FuzzedOperation): boolean {
  return method === 'DELETE' || /deregister|reject/.test(name)
}

/** What members of the world's names may hold, besides values from responses. */
export const worldValues: Readonly<Record<string, readonly string[]>> = {
  phone_number_id: Object.values(numbers),
  user_wa_id: Object.values(users),
  wa_id: Object.values(users),
  to: [...Object.values(users), '16315551001', '16315551003'],
  from: Object.values(users),
  'QR-Code-ID': Object.values(qrCodes),
  code: Object.values(qrCodes),
  file: Object.values(qrCodes).flatMap((code) => [`${code}.svg`, `${code}.png`]),
  id: Object.values(accounts),
  verify_token: ['verify-me'],
}

const secrets = ['shrub-app-secret', 'partner-app-secret', 'wrong']
const brokenHeaders = [
  '',
  'Bearer',
  'Bearer ',
  'Basic dXNlcjpwYXNz',
  'Bearer a b',
  'OAuth nobody',
  'Bearer \u00e9',
  'x',
]

/** The headers that prove who calls: usually right, sometimes of somebody else, limited, old, broken, or none. */
export function chooseProof(draw: Draw, operation: FuzzedOperation, body: Buffer | undefined): [string, string][] {
  if (operation.proofs.length === 0 && draw.chance(80)) return []
  if (operation.proofs.includes('hub_signature') && draw.chance(35)) {
    const digest = createHmac('sha256', draw.pick(secrets))
      .update(body ?? '')
      .digest('hex')
    return [['X-Hub-Signature-256', draw.chance(85) ? `sha256=${digest}` : draw.pick(brokenHeaders)]]
  }
  const usual = usualToken(operation.path)
  const lot = draw.index(100)
  if (lot < 80) return [['Authorization', `Bearer ${usual}`]]
  if (lot < 93) return [['Authorization', `Bearer ${draw.pick(Object.values(tokens))}`]]
  if (lot < 97) return [['Authorization', draw.pick(brokenHeaders)]]
  return []
}

function usualToken(path: string): string {
  if (path.startsWith('/{Version}')) return tokens.owner
  return path.startsWith('/operator/') ? tokens.operator : tokens.gateway
}
