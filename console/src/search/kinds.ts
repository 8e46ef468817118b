import { toPlain } from '../pages/phone/content/markup.ts'
import { beginUpper } from '../ui/begin-upper.ts'

const names: Readonly<Record<string, string>> = {
  application: 'App',
  phone_number: 'Number',
  message_template: 'Template',
  qr_code: 'QR code',
  media: 'Media file',
  business_user: 'Person',
}

/** What a kind of result is called: `phone_number` → `Number`. */
export function nameResult(kind: string): string {
  return names[kind] ?? beginUpper(kind.replaceAll('_', ' '))
}

/** The kinds that are offered to choose from; `find` knows them by these names. */
export const resultKinds = [
  'message',
  'user',
  'delivery',
  'call',
  'trace',
  'phone_number',
  'template',
  'group',
  'media',
  'account',
  'application',
  'business',
  'business_user',
] as const

/** Whether there is something to search for: marks alone are in no index. */
export function isSearchable(q: string): boolean {
  return /[\p{L}\p{N}]/u.test(q)
}

/** What a result is recognised by, in parts: the name is somebody's own, and its direction must not reach what is around it. */
interface TitleParts {
  readonly before: string
  readonly name: string
  readonly after: string
}

/** Of a message the words come without their markup. */
export function splitTitle(kind: string, title: string): TitleParts {
  if (kind === 'message') {
    const [, before, name, words = ''] = /^(To |From )(.{1,200}?): (.*)$/su.exec(title) ?? []
    if (before !== undefined && name !== undefined && words !== '')
      return { before, name, after: `: ${toPlain(words)}` }
  }
  const [, name = title, after = ''] = /^(.*)( \(\d+\))$/su.exec(title) ?? []
  return { before: '', name, after }
}
