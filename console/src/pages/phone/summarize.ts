import type { Message } from '../../data/messages.ts'
import type { Chat } from '../../data/phone/chat.ts'
import { beginUpper } from '../../ui/begin-upper.ts'
import { toPlain } from './content/markup.ts'

export function nameChat(chat: Chat): string {
  return chat.subject || chat.verified_name || chat.display_phone_number
}

/** `16505551234` → `+1 650 555 1234`, roughly: for reading, not for dialling. */
export function writeDigits(digits: string): string {
  const match = /^1(\d{3})(\d{3})(\d{4})$/.exec(digits)
  return match ? `+1 ${match[1]} ${match[2]} ${match[3]}` : `+${digits}`
}

/** What a message says, in one line and without markup. */
export function summarize(message: Message): string {
  return message.state === 'deleted' ? 'You deleted this message.' : toPlain(findText(message))
}

/** What a message says, as it was written. */
export function findText({ content, type }: Message): string {
  switch (content.type) {
    case 'text':
    case 'system':
      return content.body
    case 'template':
      return content.rendered.body
    case 'reaction':
      return content.emoji === undefined ? 'Removed a reaction' : `Reacted ${content.emoji}`
    case 'question':
      return content.question.body ?? content.question.type
    case 'reply':
      return findReply(content.reply)
    case 'button':
      return content.text
    case 'location':
      return ['Location', content.place.name].filter(Boolean).join(' ')
    case 'contacts':
      return ['Contact', content.contacts[0]?.name?.formatted_name].filter(Boolean).join(' ')
    case 'audio':
      return content.file.voice ? 'Voice message' : 'Audio'
    case 'document':
      return content.file.caption ?? content.file.filename ?? 'Document'
    case 'image':
    case 'video':
    case 'sticker':
      return content.file.caption ?? beginUpper(type)
    case 'order':
      return 'Order'
    case 'removed':
      return 'The content is no longer kept'
    default:
      return `A message of type ${type}`
  }
}

function findReply(reply: Extract<Message['content'], { type: 'reply' }>['reply']): string {
  switch (reply.type) {
    case 'choice':
      return reply.title
    case 'form':
      return reply.text ?? 'Form'
    case 'address':
      return `Address: ${reply.text.replaceAll('\n', ', ')}`
    case 'call_permission':
      return reply.isAllowed ? 'Calls are allowed' : 'Calls are refused'
    default:
      return 'An answer'
  }
}
