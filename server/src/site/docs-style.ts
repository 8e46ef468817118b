import { theme } from '../replies/theme.ts'
import { readBrowserFile } from './script.ts'

/** The style of the reference on a page of its own. */
export function docsStyle(): string {
  return `${theme}
.top{padding:.9rem 1.25rem;border-bottom:1px solid var(--line);background:var(--card)}
${readBrowserFile('docs.css')}`
}
