import { defineError, defineProblem } from '../../graph/define-error.ts'

export const maxSubjectLength = 128

export const subjectLength = defineProblem({
  id: 'subject_length',
  text: `it must be a string of 1 to ${maxSubjectLength} characters, not counting blanks around it.`,
})
export const notAnInviteLink = defineError({
  id: 'not_an_invite_link',
  status: 400,
  text: 'invite_link: it must be the link of an invitation, such as http://127.0.0.1:8080/invite/….',
})
export const noInviteLink = defineError({
  id: 'no_invite_link',
  status: 404,
  text: 'The group has no live invite link; create one with POST on the same path.',
})
export const inviteLinkDead = defineError({
  id: 'invite_link_dead',
  status: 404,
  text: 'The invite link is not live: it was replaced or deleted, or never was one; ask for a new one.',
})
export const joinRequestUnknown = defineError({
  id: 'join_request_unknown',
  status: 404,
  text: 'The group has no waiting join request with this id; list the join requests for their ids.',
})
export const participantUnknown = defineError({
  id: 'participant_unknown',
  status: 404,
  text: 'The user is not in this group; read the group for its participants.',
})
export const groupsNeedRegistration = defineError({
  id: 'groups_need_registration',
  status: 422,
  text: 'The phone number is not registered; register it before it can have groups.',
})
export const groupIsFull = defineError({
  id: 'group_is_full',
  status: 422,
  text: 'The group has {max} users, which is the most that one can have; somebody has to leave it first.',
})
