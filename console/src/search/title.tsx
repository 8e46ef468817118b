import { splitTitle } from './kinds.ts'

/** What a result is recognised by; a name that is written from right to left turns nothing around it. */
export function ResultTitle({ kind, title }: { readonly kind: string; readonly title: string }) {
  const { before, name, after } = splitTitle(kind, title)
  return (
    <bdi>
      {before}
      <bdi>{name}</bdi>
      {after}
    </bdi>
  )
}
