import { Type } from 'typebox'

export const joinApprovalModes = ['approval_required', 'auto_approve'] as const

/** What a group is made of; the length of `subject` is counted after trimming: see the rules. */
export const groupMembers = {
  subject: Type.String({ description: '1 to 128 characters after trimming.' }),
  description: Type.Optional(Type.String({ maxLength: 2048 })),
  join_approval_mode: Type.Optional(Type.Enum(joinApprovalModes)),
}
