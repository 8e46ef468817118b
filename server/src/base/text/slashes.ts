/** A URL or path without trailing slashes; a regular expression would take quadratic time. */
export function cutTrailingSlashes(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === '/') end--
  return text.slice(0, end)
}
