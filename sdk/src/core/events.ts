import { iterate } from './body.ts'

/** An event as the server wrote it. */
export interface WireEvent {
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

/** Reads Server-Sent Events; comments are passed on as undefined, because they show that the connection lives. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<WireEvent | undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  let block: string[] = []
  for await (const bytes of iterate(body)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const text = line.endsWith('\r') ? line.slice(0, -1) : line
      if (text !== '') block.push(text)
      else {
        yield parseBlock(block)
        block = []
      }
    }
  }
}

function parseBlock(lines: readonly string[]): WireEvent | undefined {
  const valuesOf = (field: string) =>
    lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).replace(/^ /, ''))
  const data = valuesOf('data')
  if (data.length === 0) return undefined
  return { id: valuesOf('id').at(-1), event: valuesOf('event').at(-1) ?? 'message', data: data.join('\n') }
}
