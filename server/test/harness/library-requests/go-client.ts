import { field, type LibraryRequests, message, picture, refused, success } from './request.ts'

/** Has no version of its own, and sends the token of QR codes in the query. */
export const goClient: LibraryRequests = {
  library: 'piusalfred/whatsapp',
  version: 'v20.0',
  headers: { 'user-agent': 'Go-http-client/1.1' },
  requests: [
    message('sends a text', 'text', { preview_url: true, body: 'Hello https://luckyshrub.example' }),
    { ...message('sends a text without a version', 'text', { body: 'Hello' }), version: '' },
    { ...message('sends a text with the newest version', 'text', { body: 'Hello' }), version: 'v30.0' },
    {
      ...message('sends a text with a version that there is not', 'text', { body: 'Hello' }),
      ...{ version: 'v99.0', status: 400, responds: refused(100) },
    },
    message('sends a template', 'template', { language: { code: 'en_US' }, name: 'hello_world' }),
    message('reacts', 'reaction', { message_id: '{incoming}', emoji: '👍' }),
    message('sends a place', 'location', {
      longitude: 39.2,
      latitude: -6.8,
      name: 'Dar es Salaam',
      address: 'Tanzania',
    }),
    message('asks for the place of a user', 'interactive', {
      type: 'location_request_message',
      action: { name: 'send_location' },
      body: { text: 'Where are you?' },
    }),
    message(
      'replies with a linked image',
      'image',
      { link: '{files}/a.png', caption: 'A shrub' },
      {
        context: { message_id: '{incoming}' },
      },
    ),
    {
      does: 'sends a message without the product',
      call: 'POST /{phone}/messages',
      json: { recipient_type: 'individual', to: '{user}', type: 'text', text: { body: 'Hello' } },
      status: 400,
      responds: refused(100),
    },
    {
      does: 'marks a message as read and types',
      call: 'POST /{phone}/messages',
      json: {
        ...{ messaging_product: 'whatsapp', status: 'read', message_id: '{incoming}' },
        typing_indicator: { type: 'text' },
      },
      responds: success,
    },
    {
      does: 'uploads a file',
      call: 'POST /{phone}/media',
      parts: [
        picture('name="file"; filename="shrub.png"', 'Content-Type: image/png'),
        field('type', 'image/png'),
        field('messaging_product', 'whatsapp'),
      ],
      responds: { id: /^\d+$/ },
      keeps: { media: 'id' },
    },
    {
      does: 'uploads a file of a type that is not taken',
      call: 'POST /{phone}/media',
      parts: [
        picture('name="file"; filename="shrub.bmp"', 'Content-Type: image/bmp'),
        field('type', 'image/bmp'),
        field('messaging_product', 'whatsapp'),
      ],
      status: 400,
      responds: refused(100),
    },
    {
      does: 'reads about the file',
      call: 'GET /{media}?phone_number_id={phone}',
      responds: { messaging_product: 'whatsapp', url: /^http/, mime_type: 'image/png', sha256: /./, id: '{media}' },
    },
    { does: 'deletes the file', call: 'DELETE /{media}?phone_number_id={phone}', responds: success },
    {
      does: 'makes a QR code',
      call: 'POST /{phone}/message_qrdls?generate_qr_image=SVG&prefilled_message=Hi',
      token: 'query',
      responds: { code: /^[A-Z\d]{14}$/, qr_image_url: /\.svg$/ },
      keeps: { qr_code: 'code' },
    },
    { does: 'lists QR codes', call: 'GET /{phone}/message_qrdls', token: 'query', responds: { data: [{ code: /./ }] } },
    {
      does: 'reads a QR code',
      call: 'GET /{phone}/message_qrdls/{qr_code}',
      token: 'query',
      responds: { data: [{ code: '{qr_code}', prefilled_message: 'Hi' }] },
    },
    { does: 'deletes a QR code', call: 'DELETE /{phone}/message_qrdls/{qr_code}', token: 'query', responds: success },
    {
      does: 'blocks a user',
      call: 'POST /{phone}/block_users',
      json: { messaging_product: 'whatsapp', block_users: [{ user: '{user}' }] },
      responds: { block_users: { added_users: [{ wa_id: '{user}' }] } },
    },
    {
      does: 'lists blocked users',
      call: 'GET /{phone}/block_users?limit=5',
      responds: { data: [{ wa_id: '{user}' }] },
    },
    {
      does: 'unblocks a user',
      call: 'DELETE /{phone}/block_users',
      json: { messaging_product: 'whatsapp', block_users: [{ user: '{user}' }] },
      responds: { block_users: { removed_users: [{ wa_id: '{user}' }] } },
    },
  ],
}
