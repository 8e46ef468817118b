import { defineProblem } from '../../graph/define-error.ts'

export const entityNameTooShort = defineProblem({
  id: 'entity_name_too_short',
  text: 'it must have at least 2 characters besides blanks around it.',
})
export const customTypeRequired = defineProblem({
  id: 'custom_type_required',
  text: 'it is required when entity_type is OTHER.',
})
export const customTypeNotTaken = defineProblem({
  id: 'custom_type_not_taken',
  text: 'it is allowed only with entity_type OTHER; leave it out.',
})
export const registrationNotTaken = defineProblem({
  id: 'registration_not_taken',
  text: 'it is allowed only with entity_type OTHER or PARTNERSHIP; leave it out.',
})
export const officerNameBlank = defineProblem({ id: 'officer_name_blank', text: 'it must hold more than blanks.' })
