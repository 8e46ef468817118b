import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { IconButton } from './parts.tsx'
import { Portal } from './portal.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly wide?: boolean
}

/** What one wants to write into has the focus, before what closes the dialog. */
const firstField = '.dialog-body :is(input, select, textarea):not([disabled], [type=hidden], [type=file])'

/** A native dialog that is open while it is there. */
export function Dialog(props: DialogProps) {
  return (
    <Portal>
      <OpenDialog {...props} />
    </Portal>
  )
}

function OpenDialog({ title, onClose, children, wide }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    element.current?.showModal()
    element.current?.querySelector<HTMLElement>(firstField)?.focus()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog ref={element} class={wide ? 'wide' : ''} aria-label={title} onClose={onClose} {...{ closedby: 'any' }}>
      <header class="dialog-head">
        <h2>{title}</h2>
        <IconButton icon="close" label="Close" onClick={() => element.current?.close()} />
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}

interface Question {
  readonly title: string
  /** What will happen, and what cannot be undone. */
  readonly text: ComponentChildren
  /** The word on the button: `Revoke`. */
  readonly action: string
  readonly isDangerous?: boolean
}

interface AskedQuestion extends Question {
  readonly onAnswer: (isAgreed: boolean) => void
}

const asked = signal<AskedQuestion | undefined>(undefined)

/** Asks before something that cannot be undone; answers false when the dialog is closed. */
export function confirmAction(question: Question): Promise<boolean> {
  asked.peek()?.onAnswer(false)
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      onAnswer: (isAgreed) => {
        asked.value = undefined
        resolve(isAgreed)
      },
    }
  })
}

/** Where questions are asked: once, in the frame. */
export function Confirmation() {
  const question = asked.value
  if (!question) return null
  const { title, text, action, isDangerous, onAnswer } = question
  return (
    <Dialog title={title} onClose={() => onAnswer(false)}>
      <div class="form">
        <div>{text}</div>
        <div class="row">
          <button type="button" class={isDangerous ? 'danger' : 'main'} onClick={() => onAnswer(true)}>
            {action}
          </button>
          <button type="button" onClick={() => onAnswer(false)}>
            Cancel
          </button>
        </div>
      </div>
    </Dialog>
  )
}
