import type { TemplateCard } from '../../../db/tables.ts'
import { GraphError } from '../../../graph/graph-error.ts'
import { countCharacters } from '../variables.ts'
import { type GivenComponent, type ParameterPath, requireObject } from './parameters.ts'
import {
  cardCountWrong,
  componentMissing,
  componentRepeated,
  filledInTooLong,
  parameterWrong,
} from './sending-errors.ts'

export const maxCardBody = 160

/** Fills in the cards of a carousel, each as if it were a template; `fill` does that with what is given for one. */
export function fillCards<Filled extends { readonly body: string }>(
  cards: readonly TemplateCard[] | undefined,
  given: GivenComponent | undefined,
  fill: (card: TemplateCard, components: readonly unknown[], place: ParameterPath) => Filled,
): Filled[] | undefined {
  if (!cards) return undefined
  if (!given) throw componentMissing({ kind: 'the carousel', expected: `${cards.length} cards` })
  const list = `${given.place}.cards`
  const { cards: found } = given.given
  if (!Array.isArray(found)) throw parameterWrong({ place: list, expected: 'an array of cards' })
  if (found.length !== cards.length) {
    throw cardCountWrong({ place: list, found: found.length, expected: cards.length })
  }
  const filled: Filled[] = []
  for (const [index, one] of found.entries()) {
    const place = `${list}[${index}]`
    const { card_index, components = [] } = requireObject(one, place)
    const card = typeof card_index === 'number' ? cards[card_index] : undefined
    if (!card) {
      const expected = `that of a card of the template, an integer from 0 to ${cards.length - 1}`
      throw parameterWrong({ place: `${place}.card_index`, expected })
    }
    if (filled[card_index as number]) throw componentRepeated({ place })
    if (!Array.isArray(components)) throw parameterWrong({ place: `${place}.components`, expected: 'an array' })
    try {
      filled[card_index as number] = fill(card, components, `${place}.components`)
    } catch (error) {
      throw nameCard(error, card_index as number)
    }
  }
  for (const [index, { body }] of filled.entries()) {
    if (countCharacters(body) > maxCardBody) {
      throw filledInTooLong({ place: `the body of card ${index}`, max: maxCardBody })
    }
  }
  return filled
}

/** An error that names a part of the template names its card too. */
function nameCard(error: unknown, index: number): unknown {
  if (!(error instanceof GraphError) || error.args['kind'] === undefined) return error
  return new GraphError(error.definition, { ...error.args, kind: `${error.args['kind']} of card ${index}` })
}
