import { Type } from 'typebox'
import type { LinkContext } from '../../graph/context.ts'
import { defineLink } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { NewReplyOperation } from '../../graph/operation.ts'
import { Reply } from '../../graph/reply.ts'
import { cardsOf, headerExtension } from './rules.ts'
import { findTemplate } from './store.ts'

/** The files of headers, for whoever was given the address of one and has a token that sees the template. */
export function templateDownloads(hasPublicForms: boolean): NewReplyOperation[] {
  const row = {
    permission: 'management',
    content: { '*/*': Type.String({ format: 'binary' }) },
    missing: 'envelope',
  } as const
  return [
    defineLink({
      ...row,
      name: 'templates.download',
      path: '/template_files/{Template-ID}',
      sentence: "Sends the file that is the example of a template's header.",
      input: Type.Object({}),
      examples: { output: undefined },
      async run(context) {
        const { header_sha256: sha256, header_type: type } = await findTemplate(context.db, context.node)
        return replyWithHeader(context, sha256 !== null && type !== null ? { sha256, type } : undefined)
      },
    }),
    ...(hasPublicForms
      ? [
          defineLink({
            ...row,
            name: 'templates.download_card',
            path: '/template_files/{Template-ID}/{card_index}',
            sentence: "Sends the file that is the example of the header of a template's card.",
            input: Type.Object({
              card_index: Type.Integer({ minimum: 0, maximum: 9, description: 'The place of the card, from 0.' }),
            }),
            examples: { input: { card_index: 0 }, output: undefined },
            async run(context, { card_index }) {
              const { components } = await findTemplate(context.db, context.node)
              return replyWithHeader(context, cardsOf(components)[card_index]?.file)
            },
          }),
        ]
      : []),
  ]
}

async function replyWithHeader(
  { node, ports }: LinkContext,
  found: { readonly sha256: string; readonly type: string } | undefined,
): Promise<Reply> {
  const file = found && (await ports.files.get(found.sha256))
  if (!file) throw notFound()
  return new Reply(
    {
      'content-type': found.type,
      'content-length': file.size,
      'cache-control': 'private, no-store',
      'content-disposition': `attachment; filename="${node.id}.${headerExtension(found.type)}"`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    },
    file.stream,
  )
}
