import { field, type LibraryRequest, type LibraryRequests, picture, sent, success } from './request.ts'

function message(does: string, type: string, content: unknown, more: object = {}): LibraryRequest {
  const json = { messaging_product: 'whatsapp', ...more, to: '{user}', type, [type]: content }
  return { does, call: 'POST /{phone}/messages', json, responds: sent }
}

const individual = { recipient_type: 'individual' }

/** Sends coordinates and empty descriptions as text, and a content type with requests that have no body. */
export const heyoo: LibraryRequests = {
  library: 'heyoo',
  version: 'v14.0',
  headers: { 'user-agent': 'python-requests/2.31.0', accept: '*/*' },
  requests: [
    message('sends a text', 'text', { preview_url: true, body: 'Hello https://luckyshrub.example' }, individual),
    message(
      'replies',
      'text',
      { preview_url: true, body: 'Yes' },
      { ...individual, context: { message_id: '{incoming}' } },
    ),
    message(
      'sends a template',
      'template',
      { name: 'hello_world', language: { code: 'en_US' }, components: [] },
      individual,
    ),
    message('sends a place with coordinates as text', 'location', {
      ...{ latitude: '-23.564', longitude: '-46.654', name: 'Lucky Shrub', address: 'Rua dois, 123' },
    }),
    message('sends a linked image', 'image', { link: '{files}/a.png', caption: 'A shrub' }, individual),
    message('sends a linked image without a caption', 'image', { link: '{files}/a.png', caption: null }, individual),
    message('sends an image by its id', 'image', { id: '{picture}', caption: 'A shrub' }, individual),
    message('sends a linked voice message', 'audio', { link: '{files}/voice.ogg' }),
    message('sends a linked video', 'video', { link: '{files}/a.mp4', caption: 'How to prune' }),
    message('sends a linked document', 'document', { link: '{files}/a.pdf', caption: 'Prices' }),
    message('sends contacts', 'contacts', [
      {
        addresses: [
          {
            street: '1 Main St',
            city: 'Springfield',
            state: 'CA',
            zip: '94025',
            country: 'United States',
            country_code: 'us',
            type: 'HOME',
          },
        ],
        name: { formatted_name: 'Ada Lovelace', first_name: 'Ada' },
        phones: [{ phone: '+1 650 555 1234', type: 'HOME' }],
      },
    ]),
    message('sends a list', 'interactive', {
      type: 'list',
      action: {
        button: 'Button Testing',
        sections: [{ title: 'iBank', rows: [{ id: 'row 1', title: 'Send Money', description: '' }] }],
      },
      header: { type: 'text', text: 'Header Testing' },
      body: { text: 'Body Testing' },
      footer: { text: 'Footer Testing' },
    }),
    message(
      'sends reply buttons',
      'interactive',
      {
        type: 'button',
        body: { text: 'This is a test button' },
        action: { buttons: [{ type: 'reply', reply: { id: 'b1', title: 'This is button 1' } }] },
      },
      individual,
    ),
    {
      does: 'uploads a file under its path',
      call: 'POST /{phone}/media',
      parts: [
        picture('name="file"; filename="/tmp/shrub.png"', 'Content-Type: image/png'),
        field('messaging_product', 'whatsapp'),
        field('type', 'image/png'),
      ],
      responds: { id: /^\d+$/ },
      keeps: { media: 'id' },
    },
    {
      does: 'asks for the address of the file',
      call: 'GET /{media}',
      headers: { 'content-type': 'application/json' },
      responds: { url: /^http/, mime_type: 'image/png' },
    },
    {
      does: 'deletes the file',
      call: 'DELETE /{media}',
      headers: { 'content-type': 'application/json' },
      responds: success,
    },
    {
      does: 'marks a message as read',
      version: 'v15.0',
      call: 'POST /{phone}/messages',
      json: { messaging_product: 'whatsapp', status: 'read', message_id: '{incoming}' },
      responds: success,
    },
  ],
}
