import { createHash } from 'node:crypto'

/** An HTML page and a policy that allows only what it was made with. */
export interface Page {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

export interface PageParts {
  readonly title: string
  readonly style: string
  readonly body: string
  /** What the page may load besides its own inline style, as in Content-Security-Policy. */
  readonly sources?: Readonly<Record<string, readonly string[]>>
}

/** Two crossing lines of a switchboard. */
export const pageIcon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%230f766e'/%3E%3Cpath d='M8 11h6l4 10h6M8 21h6l4-10h6' fill='none' stroke='white' stroke-width='3' stroke-linecap='round' stroke-linejoin='round'/%3E%3C/svg%3E"

export function composePage({ title, style, body, sources = {} }: PageParts): Page {
  const policy = {
    'default-src': ["'none'"],
    'style-src': [hashSource(style)],
    'img-src': ['data:'],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
    ...sources,
  }
  return {
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${pageIcon}">
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': Object.entries(policy)
        .map(([directive, allowed]) => `${directive} ${allowed.join(' ')}`)
        .join('; '),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  }
}

/** The source expression that allows exactly this inline text. */
export function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
