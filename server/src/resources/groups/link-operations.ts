import { Type } from 'typebox'
import { defineRead, defineWrite } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { NewOperation } from '../../graph/operation.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { noInviteLink } from './errors.ts'
import { askedGroup } from './examples.ts'
import { drawInviteCode, inviteLinkOf } from './rules.ts'
import { deletedLinkSchema, inviteLinkSchema, productSchema } from './schemas.ts'
import { deleteInviteLink, findInviteCode, lockGroup, putInviteLink } from './store.ts'

const path = '/{Version}/{group_id}/invite_link'
const exampleLink = 'http://127.0.0.1:8080/invite/9Zb1J3V0QZq0mFhE2xkTtA'
const createFirst = { send: 'groups.create_invite_link' }

export function createLink(vocabulary: Vocabulary): NewOperation {
  const messaging_product = vocabulary.product
  return defineWrite({
    name: 'groups.create_invite_link',
    method: 'POST',
    path,
    sentence: 'Creates an invite link of a group, by which users join; every earlier link becomes invalid.',
    permission: 'messaging',
    input: productSchema(vocabulary),
    output: inviteLinkSchema(vocabulary),
    examples: {
      input: { messaging_product },
      output: { messaging_product, invite_link: exampleLink },
      node: askedGroup,
    },
    async run({ db, node, clock, random, publicUrl }) {
      const group = await lockGroup(db, node)
      if (!group) throw notFound()
      const code = drawInviteCode(random)
      await putInviteLink(db, { group_id: group.id, code, created_time: clock.now() })
      return { messaging_product, invite_link: inviteLinkOf(publicUrl, code) }
    },
  })
}

export function readLink(vocabulary: Vocabulary): NewOperation {
  const messaging_product = vocabulary.product
  return defineRead({
    name: 'groups.read_invite_link',
    method: 'GET',
    path,
    sentence: 'Reads the live invite link of a group.',
    permission: 'messaging',
    input: Type.Object({}),
    output: inviteLinkSchema(vocabulary),
    examples: { output: { messaging_product, invite_link: exampleLink }, node: askedGroup, first: [createFirst] },
    async run({ db, node, publicUrl }) {
      const code = await findInviteCode(db, node)
      if (code === undefined) throw noInviteLink()
      return { messaging_product, invite_link: inviteLinkOf(publicUrl, code) }
    },
  })
}

export function deleteLink(vocabulary: Vocabulary): NewOperation {
  const messaging_product = vocabulary.product
  return defineWrite({
    name: 'groups.delete_invite_link',
    method: 'DELETE',
    path,
    sentence: 'Deletes the invite link of a group; it becomes invalid.',
    permission: 'messaging',
    input: productSchema(vocabulary),
    output: deletedLinkSchema(vocabulary),
    examples: {
      input: { messaging_product },
      output: { messaging_product, success: 'true' },
      node: askedGroup,
      first: [createFirst],
    },
    async run({ db, node }) {
      const group = await lockGroup(db, node)
      if (!group) throw notFound()
      if (!(await deleteInviteLink(db, group))) throw noInviteLink()
      return { messaging_product, success: 'true' }
    },
  })
}
