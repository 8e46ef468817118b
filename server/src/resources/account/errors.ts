import { defineProblem } from '../../graph/define-error.ts'

export const maxNameLength = 100

export const accountNameLength = defineProblem({
  id: 'account_name_length',
  text: `it must be a string of 1 to ${maxNameLength} characters, not counting blanks around it.`,
})
