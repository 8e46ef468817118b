import type { Preparation, RowExamples } from '../../graph/examples.ts'

/** What else an example needs to work in the demo world, in words; undefined: nothing. */
export function explainExample({ by, first = [], needs }: RowExamples): string | undefined {
  const parts = [
    ...(by === undefined ? [] : [tokens[by]]),
    ...(first.length === 0 ? [] : [`First send ${andList.format(first.map(writePreparation))}.`]),
    ...(needs === undefined ? [] : [needs]),
  ]
  return parts.length === 0 ? undefined : `To try the example: ${lowerFirst(parts.join(' '))}`
}

const tokens: Readonly<Record<NonNullable<RowExamples['by']>, string>> = {
  partner: 'The token of the partner is needed.',
  operator: 'The token of an operator is needed.',
  spare: 'A token of its own is needed, because the request may end it.',
}

const andList = new Intl.ListFormat('en', { type: 'conjunction' })

function writePreparation({ send, take }: Preparation): string {
  if (take === undefined) return `\`${send}\``
  return `\`${send}\`, whose answer holds \`${take.as.replace(/\/\d+$/, '')}\` at \`${take.pointer}\``
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
