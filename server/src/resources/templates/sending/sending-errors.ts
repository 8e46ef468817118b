import { defineError, defineProblem } from '../../../graph/define-error.ts'

/** Why a template cannot be sent, or not with these parameters. No sentence holds what a message says. */

export const templateNotSendable = defineError({
  id: 'template_not_sendable',
  status: 422,
  code: 132001,
  text: 'The account has no approved template of that name in that language; check both, and that its status is APPROVED.',
})
export const templatePaused = defineError({
  id: 'template_paused',
  status: 422,
  code: 132015,
  text: 'The template is paused because of its quality; edit it, or wait until it is approved again.',
})
export const templateDisabled = defineError({
  id: 'template_disabled',
  status: 422,
  code: 132016,
  text: 'The template is disabled for good; create another one.',
})
export const parameterCountWrong = defineError({
  id: 'parameter_count_wrong',
  status: 422,
  code: 132000,
  text: '{place}: it has {found} parameters; send {expected}, one for each variable.',
})
export const componentNotInTemplate = defineError({
  id: 'component_not_in_template',
  status: 422,
  code: 132000,
  text: '{place}: the template has no {kind}; leave the component out.',
})
export const parameterNameUnknown = defineError({
  id: 'parameter_name_unknown',
  status: 422,
  code: 132000,
  text: '{place}.parameter_name: it must be one of {names}, each once.',
})
export const parameterNameRequired = defineProblem({
  id: 'parameter_name_required',
  text: 'it is required, because the template has named parameters; send one of {names}.',
})
export const cardCountWrong = defineError({
  id: 'card_count_wrong',
  status: 422,
  code: 132000,
  text: '{place}: it has {found} cards; send {expected}, one for each card of the template.',
})
export const componentMissing = defineError({
  id: 'component_missing',
  status: 422,
  code: 132012,
  text: 'template.components: {kind} is missing; the template requires {expected} for it.',
})
/** The same, counted as too few parameters. */
export const textParametersMissing = defineError({
  id: 'text_parameters_missing',
  status: 422,
  code: 132000,
  text: componentMissing.text,
})
/** Which of the two a missing component for texts is. */
export type MissingText = typeof componentMissing | typeof textParametersMissing
export const componentRepeated = defineError({
  id: 'component_repeated',
  status: 422,
  code: 132012,
  text: '{place}: an earlier component is for the same part of the template; send each once.',
})
export const parameterWrong = defineError({
  id: 'parameter_wrong',
  status: 422,
  code: 132012,
  text: '{place}: it must be {expected}.',
})
export const noSuchButton = defineError({
  id: 'no_such_button',
  status: 422,
  code: 132012,
  text: '{place}.index: it must be that of a button of the template, which has {count}; the first is 0.',
})
export const codesDiffer = defineError({
  id: 'codes_differ',
  status: 422,
  code: 132012,
  text: '{place}: it must be the same code as in the body.',
})
export const filledInTooLong = defineError({
  id: 'filled_in_too_long',
  status: 422,
  code: 132005,
  text: '{place}: it is longer than {max} characters when it is filled in; send shorter parameters.',
})
export const codeTooLong = defineError({
  id: 'code_too_long',
  status: 422,
  code: 132005,
  text: '{place}: it must be a code of 1 to {max} characters.',
})
