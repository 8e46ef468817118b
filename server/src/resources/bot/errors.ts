import { defineProblem } from '../../graph/define-error.ts'

export const commandNameTaken = defineProblem({
  id: 'command_name_taken',
  text: 'commands[{first}] has that name already; choose another.',
})
