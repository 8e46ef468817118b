import type { Preparation, RowExamples } from '../../graph/examples.ts'

/** What else an example needs to work in the demo world, in words; undefined: nothing. */
export function explainExample({ by, first = [], needs }: RowExamples): string | undefined {
  const parts = [
    ...(by === undefined ? [] : [`The token of ${by === 'operator' ? 'an' : 'the'} ${by} is needed.`]),
    ...(first.length === 0 ? [] : [`First send ${andList.format(first.map(writePreparation))}.`]),
    ...(needs === undefined ? [] : [needs]),
  ]
  return parts.length === 0 ? undefined : `To try the example: ${lowerFirst(parts.join(' '))}`
}

const andList = new Intl.ListFormat('en', { type: 'conjunction' })

function writePreparation({ send, take }: Preparation): string {
  if (take === undefined) return `\`${send}\``
  return `\`${send}\`, whose answer holds \`${take.as.replace(/\/\d+$/, '')}\` at \`${take.pointer}\``
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
