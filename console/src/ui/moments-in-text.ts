const moment = /(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC/g

/** A piece of a sentence: words, or a time. */
export type Piece = { readonly text: string } | { readonly at: string }

/** Finds the times (`2026-11-18 04:14:37 UTC`) in a sentence of the service, so that they can be shown as times of here. */
export function splitMoments(sentence: string): readonly Piece[] {
  const pieces: Piece[] = []
  let end = 0
  for (const match of sentence.matchAll(moment)) {
    const at = `${match[1]}T${match[2]}Z`
    if (Number.isNaN(Date.parse(at))) continue
    if (match.index > end) pieces.push({ text: sentence.slice(end, match.index) })
    pieces.push({ at })
    end = match.index + match[0].length
  }
  if (end < sentence.length) pieces.push({ text: sentence.slice(end) })
  return pieces
}
