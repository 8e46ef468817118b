/** Templates in the forms of the public platform. */

const handle = (value: string) => ({ example: { header_handle: [value] } })

export const cardHeader = (value = 'unknown', format = 'IMAGE') => ({ type: 'HEADER', format, ...handle(value) })
export const quickReply = (text = 'More like this') => ({ type: 'QUICK_REPLY', text })
export const link = (url = 'https://shrub.example/{{1}}') => ({
  ...{ type: 'URL', text: 'Buy', url },
  ...(url.includes('{{') && { example: ['https://shrub.example/tulips'] }),
})

/** A card that keeps every rule but for its handle; members replace its parts. */
export function card(parts: { header?: object; body?: object; buttons?: object[] } = {}) {
  return {
    components: [
      parts.header ?? cardHeader(),
      parts.body ?? { type: 'BODY', text: 'Tulips in every colour.' },
      { type: 'BUTTONS', buttons: parts.buttons ?? [quickReply(), link()] },
    ],
  }
}

export const carousel = (...cards: unknown[]) => ({ type: 'CAROUSEL', cards })

export const offer = (members: object = {}) => ({
  type: 'LIMITED_TIME_OFFER',
  limited_time_offer: { text: 'Spring sale', has_expiration: true, ...members },
})
export const copyCode = { type: 'COPY_CODE', example: 'SPRING25' }
