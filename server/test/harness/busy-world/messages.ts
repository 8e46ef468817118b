import type { Chance } from '../seeded-random.ts'
import type { Doors } from './doors.ts'
import { makeDocument, makePhoto, makeVoice } from './files.ts'
import { texts } from './texts.ts'
import { busyIds } from './world.ts'

/** What is sent, by the name that the doors give to its kind. */
export type Content = { readonly type: string } & Readonly<Record<string, unknown>>

/** The ids of uploaded files: those of the business, and those of users. */
export interface UploadedFiles {
  readonly photos: readonly string[]
  readonly document: string
  readonly userPhotos: readonly string[]
  readonly voice: string
}

/** The usual sizes of pictures: of a camera held either way, a square, a panorama and a thumbnail. */
const photoSizes = [
  [800, 600],
  [1280, 960],
  [960, 1280],
  [1080, 1080],
  [1600, 500],
  [120, 90],
] as const

export async function uploadFiles(doors: Doors, count: number): Promise<UploadedFiles> {
  const number = busyIds.number
  const sizes = photoSizes.slice(0, count)
  const photos = sizes.map(([width, height], index) => makePhoto(width, height, index))
  const files = photos.map((bytes, index) => makeFile(bytes, `garden-${index + 1}.png`, 'image/png'))
  const invoice = makeFile(makeDocument('Invoice A7'), 'invoice.pdf', 'application/pdf')
  const ofBusiness = await Promise.all([...files, invoice].map((file) => doors.upload('business', number, file)))
  const ofUsers = await Promise.all(files.map((file) => doors.upload('gateway', number, file)))
  const voice = await doors.upload('gateway', number, makeFile(makeVoice(4), 'voice.ogg', 'audio/ogg'))
  return { photos: ofBusiness.slice(0, -1), document: ofBusiness.at(-1) ?? '', userPhotos: ofUsers, voice }
}

function makeFile(bytes: Buffer, name: string, type: string): File {
  return new File([new Uint8Array(bytes)], name, { type })
}

export function textOf(body: string): Content {
  return { type: 'text', text: { body } }
}

export const buttonsMessage: Content = {
  type: 'interactive',
  interactive: {
    type: 'button',
    header: { type: 'text', text: 'Your order A7' },
    body: { text: 'Shall we deliver it, or will you pick it up?' },
    footer: { text: 'Delivery is free from 50 €' },
    action: {
      buttons: ['Deliver it', 'I pick it up', 'Cancel'].map((title, index) => ({
        type: 'reply',
        reply: { id: `choice-${index}`, title },
      })),
    },
  },
}

export const listMessage: Content = {
  type: 'interactive',
  interactive: {
    type: 'list',
    header: { type: 'text', text: 'Plants of the week' },
    body: { text: 'Which one shall we put aside?' },
    action: {
      button: 'Choose a plant',
      sections: [
        {
          title: 'Succulents',
          rows: [
            { id: 'aloe', title: 'Aloe vera', description: 'Likes sun, forgives everything but too much water' },
            { id: 'jade', title: 'Jade plant', description: 'Grows slowly and gets old' },
            { id: 'echeveria', title: 'Echeveria' },
          ],
        },
        {
          title: 'للظل',
          rows: [
            { id: 'fern', title: 'سرخس بوسطن', description: 'يحب الظل والرطوبة' },
            { id: 'ivy', title: 'Ivy', description: 'Climbs wherever you let it' },
          ],
        },
      ],
    },
  },
}

const linkMessage: Content = {
  type: 'interactive',
  interactive: {
    type: 'cta_url',
    body: { text: 'The new catalogue is out.' },
    action: {
      name: 'cta_url',
      parameters: { display_text: 'See the catalogue', url: 'https://luckyshrub.example/catalogue' },
    },
  },
}

export const orderTemplate: Content = {
  type: 'template',
  template: {
    name: 'order_update',
    language: { code: 'en_US' },
    components: [
      { type: 'header', parameters: [{ type: 'text', text: 'A7' }] },
      {
        type: 'body',
        parameters: [
          { type: 'text', text: 'Ada' },
          { type: 'text', text: 'A7' },
        ],
      },
      { type: 'button', sub_type: 'url', index: '1', parameters: [{ type: 'text', text: 'A7' }] },
    ],
  },
}

export const marketingTemplate: Content = {
  type: 'template',
  template: { name: 'closing_sale', language: { code: 'en_US' } },
}

const place = { latitude: 40.7128, longitude: -74.006, name: 'Lucky Shrub', address: '1 Garden Lane, Springfield' }

/** Something that a business sends. */
export function pickOfBusiness(chance: Chance, files: UploadedFiles | undefined): Content {
  const kind = chance.below(24)
  if (!files) return textOf(chance.pick(texts))
  switch (kind) {
    case 0:
      return { type: 'image', image: { id: chance.pick(files.photos), caption: '*New* in the shop' } }
    case 1:
      return { type: 'document', document: { id: files.document, filename: 'Invoice A7 of the garden center.pdf' } }
    case 2:
      return buttonsMessage
    case 3:
      return listMessage
    case 4:
      return orderTemplate
    case 5:
      return linkMessage
    case 6:
      return { type: 'location', location: place }
    case 7:
      return {
        type: 'contacts',
        contacts: [
          { name: { formatted_name: 'Garden Lane', first_name: 'Garden' }, phones: [{ phone: '+16315551001' }] },
        ],
      }
    default:
      return textOf(chance.pick(texts))
  }
}

/** Something that a user writes. */
export function pickOfUser(chance: Chance, files: UploadedFiles | undefined): Content {
  const kind = chance.below(16)
  if (!files) return textOf(chance.pick(texts))
  switch (kind) {
    case 0:
      return {
        type: 'image',
        image: { id: chance.pick(files.userPhotos), mime_type: 'image/png', caption: 'Like this?' },
      }
    case 1:
      return { type: 'audio', audio: { id: files.voice, mime_type: 'audio/ogg; codecs=opus', voice: true } }
    case 2:
      return { type: 'location', location: place }
    default:
      return textOf(chance.pick(texts))
  }
}
