import type { Chat, Message } from '../../data/types.ts'

export function nameChat(chat: Chat): string {
  return chat.subject || chat.verified_name || chat.display_phone_number
}

/** `16505551234` → `+1 650 555 1234`, roughly: for reading, not for dialling. */
export function writeDigits(digits: string): string {
  const match = /^1(\d{3})(\d{3})(\d{4})$/.exec(digits)
  return match ? `+1 ${match[1]} ${match[2]} ${match[3]}` : `+${digits}`
}

/** What a message says, in one line. */
export function summarize(message: Message): string {
  const content = message[message.type] as Record<string, unknown> | undefined
  if (message.content_removed) return 'The content is no longer kept'
  switch (message.type) {
    case 'text':
      return String(content?.['body'] ?? '')
    case 'template':
      return message.rendered?.body ?? 'Template'
    case 'reaction':
      return content?.['emoji'] ? `Reacted ${content['emoji']}` : 'Removed a reaction'
    case 'interactive':
      return summarizeInteractive(content ?? {})
    case 'button':
      return String(content?.['text'] ?? '')
    case 'location':
      return `Location ${String(content?.['name'] ?? '')}`
    case 'contacts':
      return 'Contact'
    case 'audio':
      return content?.['voice'] ? 'Voice message' : 'Audio'
    case 'document':
      return String(content?.['filename'] ?? 'Document')
    default:
      return String(content?.['caption'] ?? `${message.type.slice(0, 1).toUpperCase()}${message.type.slice(1)}`)
  }
}

function summarizeInteractive(content: Record<string, unknown>): string {
  const type = String(content['type'])
  const answer = content[type] as { title?: string; response?: string; body?: string } | undefined
  if (type === 'call_permission_reply') return answer?.response === 'accept' ? 'Calls are allowed' : 'Calls are refused'
  return answer?.title ?? answer?.body ?? (content['body'] as { text?: string } | undefined)?.text ?? type
}
