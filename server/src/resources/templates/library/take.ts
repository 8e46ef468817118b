import { badArgument } from '../../../graph/define-error.ts'
import { argumentMissing, argumentWrong } from '../../../graph/errors.ts'
import { readPhoneNumber, readUrl } from '../components/read-buttons.ts'
import { memberNotTaken } from '../errors.ts'
import type { NewTemplate } from '../schemas.ts'
import { type LibraryText, libraryTemplates } from './library.ts'

/** What a button of the library is given: where it leads to. */
type ButtonInput = NonNullable<NewTemplate['library_template_button_inputs']>[number]

/**
 * The components of a template: the given ones, or the components of a library's template with what is given for it. Throws the 400
 * where both are given, or neither.
 */
export function takeComponents(given: NewTemplate): readonly unknown[] {
  const { components, library_template_name: name } = given
  if (name !== undefined) return takeFromLibrary(given, name)
  for (const member of ['library_template_body_inputs', 'library_template_button_inputs'] as const) {
    if (given[member] !== undefined)
      throw badArgument(memberNotTaken(member, { where: 'without library_template_name' }))
  }
  if (components) return components
  throw badArgument(argumentMissing('components', { expected: 'an array of components, or library_template_name' }))
}

function takeFromLibrary(given: NewTemplate, name: string): readonly unknown[] {
  const template = Object.hasOwn(libraryTemplates, name) ? libraryTemplates[name] : undefined
  if (!template) {
    const expected = `one of ${Object.keys(libraryTemplates).join(', ')}`
    throw badArgument(argumentWrong('library_template_name', { expected }))
  }
  const where = 'with library_template_name, which has its own'
  if (given.components) throw badArgument(memberNotTaken('components', { where }))
  if (given.parameter_format?.toUpperCase() === 'NAMED')
    throw badArgument(memberNotTaken('parameter_format', { where }))
  if (given.category !== template.category) {
    throw badArgument(argumentWrong('category', { expected: `${template.category}, as the library has it` }))
  }
  const text = Object.hasOwn(template.texts, given.language) ? template.texts[given.language] : undefined
  if (!text) {
    const expected = `a language that the library has ${name} in: ${Object.keys(template.texts).join(', ')}`
    throw badArgument(argumentWrong('language', { expected }))
  }
  return compose(text, given)
}

function compose(text: LibraryText, given: NewTemplate): object[] {
  const { header, footer, examples } = text
  const buttons = fillButtons(text, given.library_template_button_inputs ?? [])
  return [
    ...(header === undefined ? [] : [{ type: 'HEADER', format: 'TEXT', text: header }]),
    { type: 'BODY', text: writeBody(text, given.library_template_body_inputs), example: { body_text: [examples] } },
    ...(footer === undefined ? [] : [{ type: 'FOOTER', text: footer }]),
    ...(buttons.length === 0 ? [] : [{ type: 'BUTTONS', buttons }]),
  ]
}

/** The body with the sentences that are asked for behind it. */
function writeBody({ body, additions = {} }: LibraryText, inputs: NewTemplate['library_template_body_inputs']): string {
  const asked = Object.entries(inputs ?? {}).filter(([, value]) => value !== undefined && value !== false)
  for (const [name] of asked) {
    if (Object.hasOwn(additions, name)) continue
    const known = Object.keys(additions).join(', ') || 'none'
    throw badArgument(
      memberNotTaken(`library_template_body_inputs.${name}`, { where: `with this template, which takes ${known}` }),
    )
  }
  const names = asked.map(([name]) => name)
  const sentences = Object.entries(additions).flatMap(([name, sentence]) => (names.includes(name) ? [sentence] : []))
  return [body, ...sentences].join(' ')
}

/** The buttons with where they lead to: an input for each that leads anywhere, in their order. */
function fillButtons({ buttons = [] }: LibraryText, inputs: readonly ButtonInput[]): object[] {
  const place = 'library_template_button_inputs'
  const asking = buttons.filter(({ type }) => type !== 'QUICK_REPLY')
  if (inputs.length !== asking.length || asking.some(({ type }, index) => inputs[index]?.type.toUpperCase() !== type)) {
    const expected =
      asking.length === 0
        ? 'left out, because no button of the template takes any'
        : `a list of inputs of type ${asking.map(({ type }) => type).join(', ')}, in this order`
    throw badArgument(argumentWrong(place, { expected }))
  }
  return buttons.map((button) => {
    const index = asking.indexOf(button)
    const input = inputs[index]
    if (!input) return button
    const at = `${place}[${index}]`
    if (button.type === 'PHONE_NUMBER') return { ...button, phone_number: readPhoneNumber({ ...input }, at) }
    const { base_url, url_suffix_example } = input.url ?? {}
    return { ...button, ...readUrl({ url: base_url, example: url_suffix_example && [url_suffix_example] }, at) }
  })
}
