/** The same words, to begin a line with: `status read` → `Status read`. */
export function beginUpper(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
