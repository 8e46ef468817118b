import { defineError, defineProblem } from '../../graph/define-error.ts'

/** Subcodes of the public platform. */
const headerSubcode = 2388047
const placementSubcode = 2388299

export const templateTextLength = defineProblem({
  id: 'template_text_length',
  subcode: 2388040,
  text: 'it must have 1 to {max} characters.',
})
export const headerTextWrong = defineProblem({
  id: 'header_text_wrong',
  subcode: headerSubcode,
  text: 'a header must have at most one variable, and no line break, emoji or asterisk.',
})
export const headerVariableWrong = defineProblem({
  id: 'header_variable_wrong',
  subcode: headerSubcode,
  text: 'it must be {expected}.',
})
export const footerTextWrong = defineProblem({
  id: 'footer_text_wrong',
  subcode: 2388073,
  text: 'a footer must have no variable and no line break.',
})
export const variableAtEdge = defineProblem({
  id: 'variable_at_edge',
  subcode: placementSubcode,
  text: 'a variable is at its start or end; put words around it.',
})
export const variablesTouch = defineProblem({
  id: 'variables_touch',
  subcode: placementSubcode,
  text: 'two variables stand beside each other; put words between them.',
})
export const tooFewWords = defineProblem({
  id: 'too_few_words',
  subcode: 2388293,
  text: 'it has {words} words besides its variables and must have at least {min}; write more, or use fewer variables.',
})
export const variablesWrong = defineProblem({ id: 'variables_wrong', text: 'its variables must be {expected}.' })
export const exampleWrong = defineProblem({
  id: 'example_wrong',
  text: 'it must be {expected}, one for each variable.',
})
export const componentRepeats = defineProblem({
  id: 'component_repeats',
  text: 'a template must have one {type} at the most.',
})
export const bodyRequired = defineProblem({ id: 'body_required', text: 'a component of type BODY is required.' })
export const componentNotTaken = defineProblem({
  id: 'component_not_taken',
  text: 'an AUTHENTICATION template has no {what}; leave it out, because the texts are those of the service.',
})
export const tooManyButtons = defineProblem({
  id: 'too_many_buttons',
  text: 'there must be at most {max} of type {type}.',
})
export const quickRepliesApart = defineProblem({
  id: 'quick_replies_apart',
  text: 'quick replies must stand together, before or behind the other buttons.',
})
export const buttonNotAlone = defineProblem({
  id: 'button_not_alone',
  text: 'a button of type {type} must be the only one.',
})
export const buttonOfCategory = defineProblem({
  id: 'button_of_category',
  text: 'a button of type {type} must be in a template of the category {category}.',
})
export const memberNotTaken = defineProblem({
  id: 'member_not_taken',
  text: 'it must be left out {where}.',
})
export const componentOfCategory = defineProblem({
  id: 'component_of_category',
  text: 'a component of type {type} must be in a template of the category {category}.',
})
export const notBesideCarousel = defineProblem({
  id: 'not_beside_carousel',
  text: 'a template with a CAROUSEL has a BODY besides it and nothing else; leave the {type} out.',
})
export const cardsDiffer = defineProblem({
  id: 'cards_differ',
  text: 'every card must have {what} as the first one, which has {expected}.',
})
export const offerWrong = defineProblem({
  id: 'offer_wrong',
  text: 'a template with a LIMITED_TIME_OFFER must have {expected}.',
})
export const libraryTemplatesNotOffered = defineError({
  id: 'library_templates_not_offered',
  status: 400,
  text: 'library_template_name: there is no library of templates; send components instead.',
})
export const templateKeyFixed = defineProblem({
  id: 'template_key_fixed',
  text: 'it cannot be changed; send {stored} or leave it out.',
})
export const templateEditEmpty = defineError({
  id: 'template_edit_empty',
  status: 400,
  text: 'There is nothing to change; send components, category, parameter_format or message_send_ttl_seconds.',
})

export const templateExists = defineError({
  id: 'template_exists',
  status: 422,
  subcode: 2388024,
  text: 'The account has a template of that name in that language; edit it, or choose another name or language.',
})
export const templateCategoryDiffers = defineError({
  id: 'template_category_differs',
  status: 422,
  text: 'Templates of that name in other languages have the category {category}; use the same, or choose another name.',
})
export const templateNameRests = defineError({
  id: 'template_name_rests',
  status: 422,
  subcode: 2388023,
  text: 'An approved template of that name was deleted, so the name cannot be used before {until}; choose another name.',
})
export const tooManyTemplates = defineError({
  id: 'too_many_templates',
  status: 422,
  subcode: 2388019,
  text: 'The account has {max} names of templates, which is the most; delete one first.',
})
export const headerHandleUnknown = defineError({
  id: 'header_handle_unknown',
  status: 422,
  text: 'The header_handle is not that of a finished upload, or it was used or has expired; upload the file again.',
})
export const headerHandleOfAnotherType = defineError({
  id: 'header_handle_of_another_type',
  status: 422,
  text: 'The header_handle is that of a file of type {found}; a header of format {format} requires {types}.',
})
export const templateNotEditable = defineError({
  id: 'template_not_editable',
  status: 422,
  text: 'The template is {status}; only one that is {possible} can be edited.',
})
export const approvedCategoryFixed = defineError({
  id: 'approved_category_fixed',
  status: 422,
  text: 'The category of an approved template cannot be changed; leave it out, or create another template.',
})
export const templateEditLimitReached = defineError({
  id: 'template_edit_limit_reached',
  status: 429,
  text: 'An approved template can be edited {count} times in {period}; try again in {seconds} s.',
})
export const templateMoveNotPossible = defineError({
  id: 'template_move_not_possible',
  status: 422,
  text: 'The template is {status} and cannot become {to}; possible: {possible}.',
})
export const rejectionReasonRequired = defineError({
  id: 'rejection_reason_required',
  status: 400,
  text: 'reason: it is required with REJECTED; send one of {reasons}.',
})
export const rejectionReasonNotTaken = defineError({
  id: 'rejection_reason_not_taken',
  status: 400,
  text: 'reason: it is allowed only with the status REJECTED; leave it out.',
})
export const reviewEmpty = defineError({
  id: 'review_empty',
  status: 400,
  text: 'There is nothing to change; send status, quality_score or category.',
})
export const reviewCategoryNotPossible = defineError({
  id: 'review_category_not_possible',
  status: 422,
  text: 'The components of the template do not fit the category {category}; only an edit by the business can change both.',
})
