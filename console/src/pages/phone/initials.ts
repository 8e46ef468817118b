/** The first letters of the first two words; one where a script has no capitals, whose letters join or read as others. */
export function initialsOf(name: string): string {
  const words = name.replaceAll(/[^\p{L}\p{M}\p{N} ]/gu, '').split(' ')
  const letters = words.filter((word) => word !== '').map((word) => [...word][0] ?? '')
  const [first = '?'] = letters
  const hasCapitals = first.toUpperCase() !== first.toLowerCase() || /\p{N}/u.test(first)
  return (hasCapitals ? letters.slice(0, 2).join('') : first).toUpperCase()
}
