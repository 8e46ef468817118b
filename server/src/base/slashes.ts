/** A URL or path without the slashes at its end; a pattern for them would take the square of their number. */
export function cutTrailingSlashes(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === '/') end--
  return text.slice(0, end)
}
