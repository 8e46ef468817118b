/** The same link with a signature that is wrong in its first letter, whichever that is. */
export function forgeLink(url: string): string {
  return url.replace(/(?<=signature=)./, (first) => (first === '_' ? '-' : '_'))
}
