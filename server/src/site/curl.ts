/** A request as a line to paste into a shell; the script of the docs page writes the same. */
export interface CurlRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The body as text, or the name of a file with it. */
  readonly body?: { readonly text: string } | { readonly file: string }
}

export function writeCurl({ method, url, headers, body }: CurlRequest): string {
  const implied = body === undefined ? 'GET' : 'POST'
  return [
    'curl',
    ...(method === implied ? [] : ['-X', method]),
    ...headers.flatMap(([name, value]) => ['-H', quote(`${name}: ${value}`)]),
    ...(body === undefined
      ? []
      : 'text' in body
        ? ['-d', quote(body.text)]
        : ['--data-binary', quote(`@${body.file}`)]),
    quote(url),
  ].join(' ')
}

export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
