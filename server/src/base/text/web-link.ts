const maxLinkLength = 2048

/** Whether a text is a link that a file can be fetched from: http or https, without credentials or fragment, and not too long. */
export function isWebLink(link: string): boolean {
  const url = link.length > maxLinkLength ? null : URL.parse(link)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return false
  return url.username === '' && url.password === '' && !link.includes('#')
}
