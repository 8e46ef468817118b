import { defineError } from '../../graph/define-error.ts'

export const creditsOfAnother = defineError({
  id: 'credits_of_another',
  status: 403,
  text: 'The credit lines of a business are shown to that business alone; use a token of one of its own apps.',
})
