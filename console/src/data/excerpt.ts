import { type Members, membersOf, textOf } from './json-members.ts'

const longest = 120
const names = ['body', 'caption', 'text', 'title', 'emoji', 'name', 'filename', 'address'] as const

/** The beginning of what a message says: its text, caption, title or name; undefined where it has none. */
export function excerptOf(message: Members): string | undefined {
  const found = findText(membersOf(message[textOf(message['type']) ?? '']))
  if (found === undefined || found === '') return undefined
  const line = found
    .slice(0, 4 * longest)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > longest ? `${line.slice(0, longest)}…` : line
}

function findText(content: Members): string | undefined {
  for (const name of names) {
    // The body of an interactive message holds its text.
    const text = textOf(content[name]) ?? textOf(membersOf(content[name])['text'])
    if (text !== undefined) return text
  }
  const reply = membersOf(content['button_reply'] ?? content['list_reply'] ?? content['nfm_reply'])
  return textOf(reply['title']) ?? textOf(reply['body'])
}

/** A body as members; none when it is not JSON. */
export function readJson(text: string | null): Members {
  if (!text?.startsWith('{')) return {}
  try {
    return membersOf(JSON.parse(text))
  } catch {
    return {}
  }
}
