import type { TemplateCard, TemplateComponent } from '../../../db/tables.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentMissing, argumentWrong } from '../../../graph/errors.ts'
import { cardsDiffer, componentNotTaken, componentRepeats, notBesideCarousel } from '../errors.ts'
import { maxCardBody } from '../sending/fill-cards.ts'
import { readButtons } from './read-buttons.ts'
import { type MediaHeader, readBody, readHandle } from './read-parts.ts'
import type { TemplateKind } from './template-kind.ts'
import { type Given, isObject, readName } from './text-rules.ts'

/*
 * A row of cards that the user swipes through. All cards are built alike: the same format of header, and the same kinds of buttons in
 * the same order.
 */

const minCards = 2
const maxCards = 10

const cardTypes = ['HEADER', 'BODY', 'BUTTONS'] as const
const cardFormats = ['IMAGE', 'VIDEO'] as const
const cardButtons = { types: ['QUICK_REPLY', 'URL', 'PHONE_NUMBER'], max: 2 } as const

interface ReadCard {
  readonly card: TemplateCard
  readonly header: MediaHeader
}

export function readCards(
  given: Given,
  place: string,
  kind: TemplateKind,
): { cards: TemplateCard[]; headers: MediaHeader[] } {
  if (kind.category === 'AUTHENTICATION') throw badArgument(componentNotTaken(place, { what: 'carousel' }))
  const { cards: list } = given
  const at = `${place}.cards`
  const expected = `an array of ${minCards} to ${maxCards} cards`
  if (list === undefined) throw badArgument(argumentMissing(at, { expected }))
  if (!Array.isArray(list) || list.length < minCards || list.length > maxCards) {
    throw badArgument(argumentWrong(at, { expected }))
  }
  const cards = list.map((card: unknown, index) => readCard(card, `${at}[${index}]`, kind))
  checkAlike(cards, at)
  return { cards: cards.map(({ card }) => card), headers: cards.map(({ header }) => header) }
}

function readCard(given: unknown, place: string, kind: TemplateKind): ReadCard {
  const list = isObject(given) ? given['components'] : undefined
  const at = `${place}.components`
  const expected = 'an array of a HEADER, a BODY and BUTTONS'
  if (list === undefined) throw badArgument(argumentMissing(at, { expected }))
  if (!Array.isArray(list)) throw badArgument(argumentWrong(at, { expected }))
  const components: TemplateComponent[] = []
  let header: MediaHeader | undefined
  for (const [index, one] of list.entries()) {
    const here = `${at}[${index}]`
    if (!isObject(one)) throw badArgument(argumentWrong(here, { expected: 'an object' }))
    const type = readName(one, 'type', here, cardTypes)
    if (components.some((earlier) => earlier.type === type)) throw badArgument(componentRepeats(here, { type }))
    if (type === 'HEADER') {
      const format = readName(one, 'format', here, cardFormats)
      header = { format, handle: readHandle(one['example'], here, kind.needsHandle) }
      components.push({ type, format })
    } else if (type === 'BODY') components.push(readBody(one, here, kind, maxCardBody))
    else components.push({ type, buttons: readButtons(one, here, kind, cardButtons) })
  }
  if (!header || components.length < cardTypes.length) throw badArgument(argumentWrong(at, { expected }))
  return { card: { components }, header }
}

function checkAlike(cards: readonly ReadCard[], place: string): void {
  const describe = ({ card, header }: ReadCard) => ({
    'the same format of header': header.format,
    'the same kinds of buttons in the same order': card.components
      .flatMap(({ buttons = [] }) => buttons.map(({ type }) => type))
      .join(' '),
  })
  const [first, ...others] = cards.map(describe)
  for (const [index, other] of others.entries()) {
    for (const [what, found] of Object.entries(other)) {
      const expected = first?.[what as keyof typeof first] ?? ''
      if (found !== expected) throw badArgument(cardsDiffer(`${place}[${index + 1}]`, { what, expected }))
    }
  }
}

/** Beside a carousel there is a body and nothing else. */
export function checkCarousel(components: readonly TemplateComponent[]): void {
  if (!components.some(({ type }) => type === 'CAROUSEL')) return
  for (const [index, { type }] of components.entries()) {
    if (type !== 'CAROUSEL' && type !== 'BODY') throw badArgument(notBesideCarousel(`components[${index}]`, { type }))
  }
}
