import { Type } from 'typebox'
import { defineLink } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { NewReplyOperation } from '../../graph/operation.ts'
import { Reply } from '../../graph/reply.ts'
import { headerExtension } from './rules.ts'
import { findTemplate } from './store.ts'

/** The files of headers, for whoever was given the address of one and has a token that sees the template. */
export function templateDownloads(): NewReplyOperation[] {
  return [
    defineLink({
      name: 'templates.download',
      path: '/template_files/{Template-ID}',
      sentence: "Sends the file that is the example of a template's header.",
      permission: 'management',
      input: Type.Object({}),
      content: { '*/*': Type.String({ format: 'binary' }) },
      missing: 'envelope',
      examples: { output: undefined },
      async run({ db, node, ports }) {
        const { header_sha256, header_type } = await findTemplate(db, node)
        const file = header_sha256 === null ? undefined : await ports.files.get(header_sha256)
        if (!file || header_type === null) throw notFound()
        return new Reply(
          {
            'content-type': header_type,
            'content-length': file.size,
            'cache-control': 'private, no-store',
            'content-disposition': `attachment; filename="${node.id}.${headerExtension(header_type)}"`,
            'content-security-policy': "default-src 'none'; sandbox",
            'x-content-type-options': 'nosniff',
          },
          file.stream,
        )
      },
    }),
  ]
}
