import type { ConsoleFiles } from '../graph/ports.ts'
import { hashSource, type Page, pageIcon } from '../replies/page.ts'

/** The colours that somebody has chosen, before anything is painted. */
const themeScript = `const kept=localStorage.getItem('switchboard-theme');if(kept==='light'||kept==='dark')document.documentElement.dataset.theme=kept`

/** What a page of the console may load: its own files; of what stands in the page itself only the script above. */
const policy = [
  "default-src 'none'",
  `script-src 'self' ${hashSource(themeScript)}`,
  "style-src 'self'",
  "worker-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export interface ConsolePageParts {
  readonly frame: ConsoleFiles
  readonly prefix: string
  readonly title: string
  readonly body: string
}

/** A page that the script of the console takes over. */
export function composeConsolePage({ frame, prefix, title, body }: ConsolePageParts): Page {
  const { script, parts, style, worker, sandbox } = frame
  const preloads = parts.map((part) => `<link rel="modulepreload" href="${prefix}/console/${part}">\n`).join('')
  return {
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="switchboard-base" content="${prefix}">
<meta name="switchboard-sandbox" content="${sandbox ? 'on' : 'off'}">
<meta name="switchboard-worker" content="${worker}">
<title>${title}</title>
<script>${themeScript}</script>
<link rel="icon" href="${pageIcon}">
<link rel="stylesheet" href="${prefix}/console/${style}">
${preloads}<script type="module" src="${prefix}/console/${script}"></script>
</head>
<body>
${body}
</body>
</html>
`,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': policy,
      // For calls and voice messages of the phones.
      'permissions-policy': 'microphone=(self)',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
    },
  }
}
