const names: Readonly<Record<string, string>> = {
  application: 'App',
  phone_number: 'Number',
  message_template: 'Template',
  qr_code: 'QR code',
  media: 'Media file',
}

/** What a kind of result is called: `phone_number` → `Number`. */
export function nameResult(kind: string): string {
  const words = kind.replaceAll('_', ' ')
  return names[kind] ?? `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}
