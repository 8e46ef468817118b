import { Icon } from '../../ui/icons.tsx'
import { initialsOf } from './initials.ts'
import './avatar.css'

/** One of a few colours, always the same for the same name or number. */
export function hueOf(name: string): number {
  return [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 6, 0)
}

export function Avatar({ name, isGroup }: { readonly name: string; readonly isGroup?: boolean }) {
  return (
    <span class={`avatar hue-${hueOf(name)}`} aria-hidden="true">
      {isGroup ? '#' : name.startsWith('+') ? <Icon name="person" /> : initialsOf(name)}
    </span>
  )
}
