import type { Random } from '../../base/keys/random.ts'
import type { GroupJoinRequestsTable, GroupsTable } from '../../db/tables.ts'
import { type ArgumentProblem, badArgument } from '../../graph/define-error.ts'
import type { GraphError } from '../../graph/graph-error.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import {
  groupIsFull,
  groupsNeedRegistration,
  joinRequestUnknown,
  maxSubjectLength,
  notAnInviteLink,
  participantUnknown,
  subjectLength,
} from './errors.ts'
import { type GroupProblem, inviteCodePattern } from './schemas.ts'

export const groupDefaults = { description: '', join_approval_mode: 'auto_approve' } as const

/** A group's subject is measured without surrounding spaces, in Unicode characters. */
export function findSubjectProblems(subject: string): ArgumentProblem[] {
  const length = [...subject.trim()].length
  if (length >= 1 && length <= maxSubjectLength) return []
  return [subjectLength('subject')]
}

export function readSubject(subject: string): string {
  const [problem] = findSubjectProblems(subject)
  if (problem) throw badArgument(problem)
  return subject.trim()
}

export function checkRegistered({ registered }: { readonly registered: boolean }): void {
  if (!registered) throw groupsNeedRegistration()
}

export function writeUnixSeconds(milliseconds: number): string {
  return String(Math.floor(milliseconds / 1000))
}

export function toListedGroup({ id, subject, created_time }: GroupsTable) {
  return { id, subject, created_at: writeUnixSeconds(created_time) }
}

/** The time of a creation, as the responses show it. */
export function writeCreation({ habits }: Vocabulary, milliseconds: number): string | number {
  const seconds = writeUnixSeconds(milliseconds)
  return habits.library_fields ? Number(seconds) : seconds
}

export function toGroup(
  vocabulary: Vocabulary,
  group: GroupsTable,
  participants: readonly { readonly user_wa_id: string }[],
) {
  const { id, subject, description, join_approval_mode, created_time } = group
  return {
    id,
    subject,
    description,
    join_approval_mode,
    creation_timestamp: writeCreation(vocabulary, created_time),
    participants: participants.map(({ user_wa_id }) => ({ wa_id: user_wa_id })),
    total_participant_count: participants.length,
  }
}

export function toJoinRequest(vocabulary: Vocabulary, { id, user_wa_id, created_time }: GroupJoinRequestsTable) {
  return { join_request_id: id, wa_id: user_wa_id, creation_timestamp: writeCreation(vocabulary, created_time) }
}

/** Anyone with the code can join, so it must not be guessable: 128 bits. */
export function drawInviteCode(random: Random): string {
  return random.bytes(16).toString('base64url')
}

export function isInviteCode(text: string): boolean {
  return inviteCodePattern.test(text)
}

export function inviteLinkOf(publicUrl: string, code: string): string {
  return `${publicUrl}/invite/${code}`
}

/**
 * The code at the end of a link; undefined for a text that never was a link of ours. The address before the code is ignored: a link
 * stays valid when the service moves.
 */
export function readInviteCode(link: string): string | undefined {
  const code = /\/invite\/([^/]*)\/?$/.exec(URL.parse(link)?.pathname ?? '')?.[1]
  if (code === undefined) throw notAnInviteLink()
  return isInviteCode(code) ? code : undefined
}

/** The digits of a user's phone number are the user's id. */
export function readUser(user: string): string {
  return user.replaceAll(/\D/g, '')
}

function problem(title: string, { code, message: details }: GraphError): GroupProblem {
  return { code, title, message: title, error_data: { details } }
}

/** The codes are the same as when these reasons refuse a whole request. */
export const problems = {
  notRegistered: () => problem('Group not created', groupsNeedRegistration()),
  unknownRequest: () => problem('No such join request', joinRequestUnknown()),
  fullGroup: (max: number) => problem('Group is full', groupIsFull({ max })),
  unknownParticipant: () => problem('No such participant', participantUnknown()),
}

/** One item of several that failed, and why. */
export interface Failure {
  readonly id: string
  readonly problem: GroupProblem
}

/** Separates the possible from the impossible, in order; duplicates count once. */
export function sortOut(
  ids: readonly string[],
  findProblem: (id: string) => GroupProblem | undefined,
): { done: string[]; failed: Failure[] } {
  const done: string[] = []
  const failed: Failure[] = []
  for (const id of new Set(ids)) {
    const problem = findProblem(id)
    if (problem) failed.push({ id, problem })
    else done.push(id)
  }
  return { done, failed }
}
