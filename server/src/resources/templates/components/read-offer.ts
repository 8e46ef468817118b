import type { TemplateComponent } from '../../../db/tables.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentMissing, argumentWrong } from '../../../graph/errors.ts'
import { componentOfCategory, offerWrong, templateTextLength } from '../errors.ts'
import { maxOfferBody } from '../sending/fill-offer.ts'
import { countCharacters } from '../variables.ts'
import type { TemplateKind } from './template-kind.ts'
import { type Given, isObject, readText } from './text-rules.ts'

/** An offer that ends: what it is called, and whether the message says until when it holds. */

const maxText = 16

export function readOffer(given: Given, place: string, { category }: TemplateKind): TemplateComponent {
  if (category !== 'MARKETING') {
    throw badArgument(componentOfCategory(place, { type: 'LIMITED_TIME_OFFER', category: 'MARKETING' }))
  }
  const at = `${place}.limited_time_offer`
  const { limited_time_offer: offer } = given
  const expected = 'an object with text'
  if (offer === undefined) throw badArgument(argumentMissing(at, { expected }))
  if (!isObject(offer)) throw badArgument(argumentWrong(at, { expected }))
  const text = readText(offer, 'text', at, maxText)
  const { has_expiration } = offer
  if (has_expiration !== undefined && typeof has_expiration !== 'boolean') {
    throw badArgument(argumentWrong(`${at}.has_expiration`, { expected: 'true or false' }))
  }
  return {
    type: 'LIMITED_TIME_OFFER',
    limited_time_offer: { text, ...(has_expiration !== undefined && { has_expiration }) },
  }
}

/** What an offer asks of the rest of its template. */
export function checkOffer(components: readonly TemplateComponent[]): void {
  const find = (type: TemplateComponent['type']) => components.findIndex((component) => component.type === type)
  const offer = components[find('LIMITED_TIME_OFFER')]?.limited_time_offer
  if (!offer) return
  const refuse = (type: TemplateComponent['type'], expected: string) => {
    const index = find(type)
    throw badArgument(offerWrong(index < 0 ? 'components' : `components[${index}]`, { expected }))
  }
  const format = components[find('HEADER')]?.format
  if (format !== undefined && format !== 'IMAGE' && format !== 'VIDEO') {
    refuse('HEADER', 'a HEADER of format IMAGE or VIDEO, or none')
  }
  if (find('FOOTER') >= 0) refuse('FOOTER', 'no FOOTER')
  const body = find('BODY')
  if (countCharacters(components[body]?.text ?? '') > maxOfferBody) {
    throw badArgument(templateTextLength(`components[${body}].text`, { max: maxOfferBody }))
  }
  const types = (components[find('BUTTONS')]?.buttons ?? []).map(({ type }) => type).join(' ')
  if (types === 'COPY_CODE URL' || (types === 'URL' && !offer.has_expiration)) return
  refuse(
    'BUTTONS',
    offer.has_expiration
      ? 'BUTTONS of COPY_CODE and URL, in this order, because has_expiration is true'
      : 'BUTTONS of URL alone, or of COPY_CODE and URL in this order',
  )
}
