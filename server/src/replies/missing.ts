import type { IncomingHttpHeaders } from 'node:http'
import { notFound } from '../graph/errors.ts'
import { Reply } from '../graph/reply.ts'
import type { Page } from './page.ts'

export function replyWithPage({ html, headers }: Page, status = 200, fault?: string): Reply {
  return new Reply(headers, html, { status, fault })
}

/** 404: people get a page, programs the envelope. */
export function replyMissing({ accept }: IncomingHttpHeaders, { html, headers }: Page): Reply {
  if (!accept?.includes('text/html')) throw notFound({ headers: { vary: 'accept' } })
  return new Reply({ ...headers, vary: 'accept' }, html, { status: 404 })
}
