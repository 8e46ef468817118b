import { Icon } from '../../ui/icons.tsx'
import './avatar.css'

/** One of a few colours, always the same for the same name or number. */
export function hueOf(name: string): number {
  return [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 6, 0)
}

export function Avatar({ name, isGroup }: { readonly name: string; readonly isGroup?: boolean }) {
  const letters = [...name.replaceAll(/[^\p{L}\p{N} ]/gu, '')].filter((_, i, all) => i === 0 || all[i - 1] === ' ')
  return (
    <span class={`avatar hue-${hueOf(name)}`} aria-hidden="true">
      {isGroup ? (
        '#'
      ) : name.startsWith('+') ? (
        <Icon name="person" />
      ) : (
        letters.slice(0, 2).join('').toUpperCase() || '?'
      )}
    </span>
  )
}
