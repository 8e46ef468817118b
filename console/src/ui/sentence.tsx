import { Exact } from './moments.tsx'
import { splitMoments } from './moments-in-text.ts'

/** A sentence of the service, with its times as times of here. */
export function Sentence({ text }: { readonly text: string }) {
  return <>{splitMoments(text).map((piece) => ('at' in piece ? <Exact key={piece.at} at={piece.at} /> : piece.text))}</>
}
