import { listWords } from '../../../base/text/words.ts'

/** The members whose texts people write or read; others are ids, links, types and keys of programs. */
const written: ReadonlySet<string> = new Set([
  ...['body', 'text', 'caption', 'filename', 'title', 'description', 'footer', 'header'],
  ...['name', 'address', 'formatted_name', 'first_name', 'last_name', 'company', 'headline', 'phone', 'email'],
])
const maxDepth = 10

interface Content {
  readonly value?: unknown
  /** A template, filled in. */
  readonly rendered?: unknown
}

/** The texts of a message that people see, in the order of its content. */
export function listTexts({ value, rendered }: Content): string[] {
  const texts: string[] = []
  const walk = (part: unknown, isWritten: boolean, depth: number) => {
    if (typeof part === 'string') {
      if (isWritten && part !== '') texts.push(part)
      return
    }
    if (typeof part !== 'object' || part === null || depth === maxDepth) return
    if (Array.isArray(part)) for (const item of part) walk(item, isWritten, depth + 1)
    else for (const [name, member] of Object.entries(part)) walk(member, written.has(name), depth + 1)
  }
  // A template's own value holds its parameters, which are in what it was filled in to.
  walk(rendered ?? value, false, 0)
  return texts
}

/** What a message is found by. */
export function listWordsOf(content: Content): string[] {
  return listWords(...listTexts(content))
}

/** The same of a content as it is stored. */
export function listStoredTexts(content: string): string[] {
  return listTexts(JSON.parse(content) as Content)
}
