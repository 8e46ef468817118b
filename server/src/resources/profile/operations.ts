import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { successSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { takeUpload } from '../uploads/store.ts'
import { pictureHandleOfAnotherType, pictureHandleUnknown } from './errors.ts'
import { profilePictures } from './pictures.ts'
import { makePictureId, pictureUrl, readProfileUpdate } from './rules.ts'
import { listProfileFields, makeProfileListSchema, makeProfileUpdateSchema } from './schemas.ts'
import { findProfile, lockPicture, pictureUse, replacePicture, updateProfile } from './store.ts'
import { profileEntry } from './world.ts'

export const profileChapter: Chapter = {
  name: 'profile',
  title: 'Business profile',
  rows: (vocabulary) => [...profileOperations(vocabulary), ...profilePictures()],
  world: [profileEntry],
  leftOutOfWorld: { 'profile pictures': 'profile_pictures' },
}

function profileOperations(vocabulary: Vocabulary): NewOperation[] {
  const path = `/{Version}/{Phone-Number-ID}/${vocabulary.product}_business_profile` as const
  const fields = listProfileFields(vocabulary)
  const defaults = fields.filter((name) => name !== 'id')
  const { library_fields } = vocabulary.habits
  const example = {
    messaging_product: vocabulary.product,
    about: 'Plants for every corner',
    address: '1 Garden Way, Springfield',
    description: 'Trees, shrubs and advice.',
    email: 'hi@luckyshrub.example',
    websites: ['https://luckyshrub.example'],
    vertical: 'RETAIL',
  }
  return [
    defineRead({
      name: 'profile.read',
      method: 'GET',
      path,
      sentence: 'Reads the business profile of a phone number.',
      permission: 'management',
      fields: { available: fields, defaults, mode: 'replace' },
      input: Type.Object({}),
      output: makeProfileListSchema(vocabulary),
      examples: {
        output: {
          data: [
            {
              business_profile: {
                ...example,
                profile_picture_url: 'http://127.0.0.1:8080/pictures/MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0',
              },
            },
          ],
        },
      },
      async run({ db, node, project, publicUrl }) {
        const { profile, picture } = await findProfile(db, node)
        const business_profile = project({
          id: node.id,
          messaging_product: vocabulary.product,
          ...profile,
          profile_picture_url: picture && pictureUrl(publicUrl, picture.picture_id),
        })
        return { data: [library_fields ? { business_profile, ...business_profile } : { business_profile }] }
      },
    }),
    defineWrite({
      name: 'profile.update',
      method: 'POST',
      path,
      sentence: 'Changes the members of a business profile that are given; an empty text clears.',
      permission: 'management',
      input: makeProfileUpdateSchema(vocabulary),
      output: successSchema,
      examples: { input: example, output: { success: true } },
      holds: ({ node }, { profile_picture_handle }) => (profile_picture_handle === undefined ? node.id : undefined),
      async run({ db, node, caller, clock, random }, { profile_picture_handle: handle, ...given }) {
        const picture = handle === undefined ? undefined : await lockPicture(db, node)
        updateProfile(db, node, readProfileUpdate(given))
        if (handle === '') await replacePicture(db, { clock, random }, node, picture, undefined)
        else if (handle !== undefined) {
          const picture_id = makePictureId(random)
          const upload = await takeUpload(db, { clock, random }, caller.business_id, handle, pictureUse(picture_id))
          if (!upload) throw pictureHandleUnknown()
          const { sha256, file_type: mime_type } = upload
          if (!mime_type.startsWith('image/')) throw pictureHandleOfAnotherType({ found: mime_type })
          await replacePicture(db, { clock, random }, node, picture, { picture_id, sha256, mime_type })
        }
        return { success: true }
      },
    }),
  ]
}
