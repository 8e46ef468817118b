import { useRef } from 'preact/hooks'
import { useUniqueId } from './hooks.ts'
import { Icon, type IconName } from './icons.tsx'

interface MenuItem {
  readonly label: string
  readonly icon?: IconName
  readonly onSelect: () => void
  readonly isDangerous?: boolean
}

interface MenuProps {
  /** The name of the button that opens it. */
  readonly label: string
  readonly icon: IconName
  readonly items: readonly MenuItem[]
  /** Whether it opens above its button. */
  readonly above?: boolean
  readonly class?: string
}

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

/** A button that opens a list of actions: arrows move in it, Escape closes it and nothing else, and the button has the focus again. */
export function Menu({ label, icon, items, above, class: name = '' }: MenuProps) {
  const id = useUniqueId()
  const list = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const entries = () => [...(list.current?.querySelectorAll('button') ?? [])]
  const close = () => {
    list.current?.hidePopover()
    button.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!list.current?.matches(':popover-open')) return
    const all = entries()
    const at = all.indexOf(document.activeElement as HTMLButtonElement)
    const step = steps[event.key]
    const ends: Readonly<Record<string, number>> = { Home: 0, End: all.length - 1 }
    const next = step === undefined ? ends[event.key] : (at + step + all.length) % all.length
    if (next !== undefined) {
      event.preventDefault()
      all[next]?.focus()
    }
    if (event.key !== 'Escape') return
    // What is around the menu has its own meaning for Escape.
    event.stopPropagation()
    event.preventDefault()
    close()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the menu within.
    <span class={`menu-place ${name}`} onKeyDown={onKeyDown}>
      <button
        type="button"
        class="bare"
        ref={button}
        popovertarget={id}
        aria-haspopup="menu"
        aria-label={label}
        title={label}
      >
        <Icon name={icon} />
      </button>
      <div
        id={id}
        ref={list}
        popover="auto"
        role="menu"
        aria-label={label}
        class={`menu ${above ? 'above' : ''}`}
        onToggle={(event) => {
          if (event.newState === 'open') entries()[0]?.focus()
        }}
      >
        {items.map((item) => (
          <button
            key={item.label}
            type="button"
            role="menuitem"
            tabIndex={-1}
            class={item.isDangerous ? 'danger' : ''}
            onClick={() => {
              close()
              item.onSelect()
            }}
          >
            {item.icon && <Icon name={item.icon} />}
            {item.label}
          </button>
        ))}
      </div>
    </span>
  )
}
