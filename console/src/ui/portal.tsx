import { type ComponentChildren, render } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Draws at the end of the document: what opens over a page takes neither the styles nor the keys of the place that opened it. */
export function Portal({ children }: { readonly children: ComponentChildren }) {
  const holder = useRef<HTMLElement>(undefined)
  useLayoutEffect(() => {
    holder.current ??= document.body.appendChild(document.createElement('div'))
    render(children, holder.current)
  })
  useLayoutEffect(
    () => () => {
      if (!holder.current) return
      render(null, holder.current)
      holder.current.remove()
      holder.current = undefined
    },
    [],
  )
  return null
}
