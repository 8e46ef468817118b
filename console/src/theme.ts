import { signal } from '@preact/signals'

const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]
const name = 'switchboard-theme'

export const theme = signal<Theme>(readTheme())

function readTheme(): Theme {
  const kept = localStorage.getItem(name)
  return themes.find((one) => one === kept) ?? 'system'
}

export function applyTheme(): void {
  if (theme.value === 'system') document.documentElement.removeAttribute('data-theme')
  else document.documentElement.setAttribute('data-theme', theme.value)
}

export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system'
  localStorage.setItem(name, theme.value)
  applyTheme()
}
