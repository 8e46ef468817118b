/** Moves the focus from a button that is about to go to that of the next row, of the row before, or to the heading of the page. */
export function focusBeside(button: HTMLElement): void {
  // Whoever has gone elsewhere meanwhile stays there.
  if (document.activeElement !== button && document.activeElement !== document.body) return
  const row = button.closest('tr')
  const rows = [...(row?.parentElement?.children ?? [])]
  const at = row ? rows.indexOf(row) : -1
  const others = [...rows.slice(at + 1), ...rows.slice(0, Math.max(0, at)).reverse()]
  const next = others.map((one) => one.querySelector('button')).find((found) => found !== null)
  ;(next ?? document.querySelector<HTMLElement>('main h1'))?.focus()
}
