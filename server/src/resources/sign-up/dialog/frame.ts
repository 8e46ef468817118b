import { composePage, escapeHtml, hashSource, type Page } from '../../../replies/page.ts'
import { mark } from '../../../replies/theme.ts'
import { dialogScript } from './script.ts'
import { dialogStyle } from './style.ts'

export interface DialogFrame {
  readonly title: string
  /** What stands under the mark; already HTML. */
  readonly head: string
  /** The page below; already HTML. */
  readonly body: string
  readonly foot?: string
  /** Where forms may lead besides this service. */
  readonly formTarget?: string | undefined
}

/** The frame of every page of the dialog, and a policy that lets nothing else in. */
export function composeDialogPage({ title, head, body, foot = '', formTarget }: DialogFrame): Page {
  const { html, headers } = composePage({
    title,
    style: dialogStyle,
    body: `<main>
<div class="top"><div class="brand">${mark} Switchboard</div>
${head}</div>
${body}
${foot === '' ? '' : `<div class="end">${foot}</div>`}
</main>
<script>${dialogScript}</script>`,
    sources: {
      'script-src': [hashSource(dialogScript)],
      'form-action': ["'self'", ...(formTarget === undefined ? [] : [formTarget])],
    },
  })
  return {
    html,
    headers: {
      ...headers,
      'cache-control': 'no-store',
      // Browsers that know no frame-ancestors.
      'x-frame-options': 'DENY',
      // Not none: a browser would hide from this service, too, which website a form comes from.
      'referrer-policy': 'same-origin',
    },
  }
}

interface ShownError {
  readonly status: number
  readonly message: string
  readonly trace: string
}

/** What people see of an error before a dialog has begun, or when it is over: never a way to where the address says. */
export function composeDialogError(error: ShownError): Page {
  return composeError('This sign-up cannot go on', error, 'Nothing was sent to the app. ')
}

/** The same where a browser comes back from the issuer, of a person or of an operator. */
export function composeSignInError(error: ShownError): Page {
  return composeError('This sign-in cannot go on', error)
}

function composeError(title: string, { message, trace }: ShownError, assurance = ''): Page {
  return composeDialogPage({
    title,
    head: `<h1>${title}</h1>`,
    body: `<div class="step"><p role="alert">${escapeHtml(message)}</p></div>`,
    foot: `<p>${assurance}Trace: <code>${escapeHtml(trace)}</code></p>`,
  })
}

/** A name that somebody gave, in a direction of its own. */
export function writeName(name: string): string {
  return `<bdi>${escapeHtml(name)}</bdi>`
}
