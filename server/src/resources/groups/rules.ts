import type { Problem } from '../../graph/validation.ts'

const maxSubjectLength = 128

export const groupDefaults = { description: '', join_approval_mode: 'auto_approve' } as const

/** A group's subject counts without the blanks around it, and in Unicode characters. */
export function findSubjectProblems(subject: string): Problem[] {
  const length = [...subject.trim()].length
  if (length >= 1 && length <= maxSubjectLength) return []
  return [
    {
      place: 'subject',
      problem: `it must be a string of 1 to ${maxSubjectLength} characters, not counting blanks around it.`,
    },
  ]
}
