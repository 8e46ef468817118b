import { toPlain } from '../pages/phone/content/markup.ts'
import { beginUpper } from '../ui/begin-upper.ts'

const names: Readonly<Record<string, string>> = {
  application: 'App',
  phone_number: 'Number',
  message_template: 'Template',
  qr_code: 'QR code',
  media: 'Media file',
}

/** What a kind of result is called: `phone_number` → `Number`. */
export function nameResult(kind: string): string {
  return names[kind] ?? beginUpper(kind.replaceAll('_', ' '))
}

/** What a result is recognised by: of a message its words without their markup. */
export function writeTitle(kind: string, title: string): string {
  const [, side = '', words = ''] = /^((?:To|From) .{1,200}?: )(.*)$/su.exec(title) ?? []
  return kind === 'message' && words !== '' ? side + toPlain(words) : title
}
