import { defineError } from '../../graph/define-error.ts'

export const creditsOfAnother = defineError({
  id: 'credits_of_another',
  status: 403,
  text: 'The credit lines of a business are shown only to that business; use a token of one of its own apps.',
})
