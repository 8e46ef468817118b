import type { FilledTemplate } from '../../templates/public.ts'
import type { Interactive } from '../content/interactive.ts'
import { nothingToShow } from '../errors.ts'
import type { CheckedMessage } from './request.ts'

/** What kinds of interactive messages show that this platform does not have yet. */
const shownByKind: Readonly<Record<string, string>> = {
  flow: 'flows',
  product: 'catalogues',
  product_list: 'catalogues',
  catalog_message: 'catalogues',
}

/** The same of buttons of templates. */
const shownByButton: Readonly<Record<string, string>> = { FLOW: 'flows', CATALOG: 'catalogues', MPM: 'catalogues' }

/** Throws when a message would show the user something that cannot be there. */
export function checkExists({ kind, value }: CheckedMessage, filled: FilledTemplate | undefined): void {
  const what = kind === 'interactive' ? shownByKind[(value as Interactive).type] : undefined
  if (what !== undefined) throw nothingToShow({ place: 'interactive', what })
  for (const { type, index } of filled?.buttons ?? []) {
    const behind = shownByButton[type]
    if (behind !== undefined) throw nothingToShow({ place: `template: the button ${index}`, what: behind })
  }
}
