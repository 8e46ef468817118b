import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { IconButton } from '../../../ui/parts.tsx'
import './sheet.css'

interface Props {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A sheet over the screen of one phone; the other phones and the page stay in use. */
export function Sheet({ title, onClose, children }: Props) {
  const sheet = useRef<HTMLElement>(null)
  useEffect(() => {
    const before = document.activeElement
    const first = sheet.current?.querySelector<HTMLElement>('input, .sheet-body button')
    ;(first ?? sheet.current)?.focus()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <div class="sheet-place">
      <button type="button" class="sheet-shade" tabIndex={-1} aria-label="Close" onClick={onClose} />
      <section
        ref={sheet}
        class="sheet"
        role="dialog"
        aria-label={title}
        tabIndex={-1}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          // Escape closes the sheet, and not the chat below it.
          event.stopPropagation()
          onClose()
        }}
      >
        <header class="sheet-head">
          <h4 dir="auto">{title}</h4>
          <IconButton icon="close" label="Close" onClick={onClose} />
        </header>
        <div class="sheet-body">{children}</div>
      </section>
    </div>
  )
}
