import type { TemplateComponent } from '../../../db/tables.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentMissing, argumentWrong } from '../../../graph/errors.ts'
import { bodyRequired, componentNotTaken, componentRepeats } from '../errors.ts'
import { readAuthenticationBody, readAuthenticationFooter } from './read-authentication.ts'
import { readButtons } from './read-buttons.ts'
import { checkCarousel, readCards } from './read-carousel.ts'
import { checkOffer, readOffer } from './read-offer.ts'
import { type MediaHeader, readBody, readFooter, readHandle, readHeader } from './read-parts.ts'
import type { TemplateKind } from './template-kind.ts'
import { type Given, isObject, readName } from './text-rules.ts'

const componentTypes = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS'] as const
const publicComponentTypes = [...componentTypes, 'CAROUSEL', 'LIMITED_TIME_OFFER'] as const

/** Components as they are stored: without the handles of headers' files, and without members that are not known. */
export interface ReadComponents {
  readonly components: TemplateComponent[]
  readonly header: MediaHeader | undefined
  /** The headers of its cards, in their order. */
  readonly cards: readonly MediaHeader[]
}

/** Reads the components of a template; throws the 400 of the first rule that one breaks. */
export function readComponents(given: readonly unknown[], kind: TemplateKind): ReadComponents {
  const components: TemplateComponent[] = []
  let header: MediaHeader | undefined
  let cards: readonly MediaHeader[] = []
  for (const [index, one] of given.entries()) {
    const place = `components[${index}]`
    if (!isObject(one)) throw badArgument(argumentWrong(place, { expected: 'an object' }))
    const type = readName<TemplateComponent['type']>(
      one,
      'type',
      place,
      kind.hasPublicForms ? publicComponentTypes : componentTypes,
    )
    if (components.some((earlier) => earlier.type === type)) throw badArgument(componentRepeats(place, { type }))
    if (type === 'CAROUSEL') {
      const read = readCards(one, place, kind)
      components.push({ type, cards: read.cards })
      cards = read.headers
      continue
    }
    const read = readComponent(type, one, place, kind)
    components.push(read)
    const { format } = read
    if (format === 'IMAGE' || format === 'VIDEO' || format === 'DOCUMENT') {
      header = { format, handle: readHandle(one['example'], place, kind.needsHandle) }
    }
  }
  if (!components.some(({ type }) => type === 'BODY')) throw badArgument(bodyRequired('components'))
  if (kind.category === 'AUTHENTICATION' && !components.some(({ type }) => type === 'BUTTONS')) {
    throw badArgument(argumentMissing('components', { expected: 'a component of type BUTTONS with one OTP button' }))
  }
  checkCarousel(components)
  checkOffer(components)
  return { components, header, cards }
}

function readComponent(
  type: Exclude<TemplateComponent['type'], 'CAROUSEL'>,
  given: Given,
  place: string,
  kind: TemplateKind,
): TemplateComponent {
  const isAuthentication = kind.category === 'AUTHENTICATION'
  switch (type) {
    case 'HEADER':
      if (isAuthentication) throw badArgument(componentNotTaken(place, { what: 'header' }))
      return readHeader(given, place, kind)
    case 'BODY':
      return isAuthentication ? readAuthenticationBody(given, place) : readBody(given, place, kind)
    case 'FOOTER':
      return isAuthentication ? readAuthenticationFooter(given, place) : readFooter(given, place)
    case 'BUTTONS':
      return { type, buttons: readButtons(given, place, kind) }
    case 'LIMITED_TIME_OFFER':
      return readOffer(given, place, kind)
  }
}
