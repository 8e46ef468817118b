import { type LibraryRequest, type LibraryRequests, picture, refused, sent, success } from './request.ts'

function message(does: string, type: string, content: unknown, more: object = {}): LibraryRequest {
  const json = { messaging_product: 'whatsapp', type, to: '{user}', [type]: content, ...more }
  return { does, call: 'POST /{phone}/messages', json, responds: sent }
}

/** Names the product of an upload in the query, and keeps a slash or a question mark where nothing follows. */
export const apiJs: LibraryRequests = {
  library: 'whatsapp-api-js',
  version: 'v24.0',
  headers: { 'user-agent': 'node', accept: '*/*', 'accept-language': '*', 'sec-fetch-mode': 'cors' },
  requests: [
    message('sends a text', 'text', { body: 'Hello' }),
    message(
      'replies with a tracker',
      'text',
      { body: 'Yes', preview_url: true },
      {
        ...{ context: { message_id: '{incoming}' }, biz_opaque_callback_data: 'order-42' },
      },
    ),
    message('sends an image by its id', 'image', { id: '{picture}', caption: 'A shrub' }),
    message('reacts', 'reaction', { message_id: '{incoming}', emoji: '😆' }),
    message('sends a link to open', 'interactive', {
      action: { name: 'cta_url', parameters: { display_text: 'Open', url: 'https://luckyshrub.example' } },
      body: { text: 'The catalogue' },
      type: 'cta_url',
    }),
    message('sends a template with a button', 'template', {
      name: 'order_ready',
      language: { code: 'en_US', policy: 'deterministic' },
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
    }),
    // Its releases before the third wrote the contents of a message as JSON text.
    { ...message('sends a text of an older release', 'text', '{"body":"Hello"}'), version: 'v16.0' },
    {
      ...message(
        'sends contacts of an older release',
        'contacts',
        '[{"name":{"formatted_name":"Ada","first_name":"Ada"}}]',
      ),
      version: 'v15.0',
    },
    {
      ...message(
        'sends buttons of an older release',
        'interactive',
        '{"type":"button","body":{"text":"A?"},"action":{"buttons":[{"type":"reply","reply":{"id":"a","title":"A"}}]}}',
      ),
      version: 'v14.0',
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
      does: 'makes a QR code',
      call: 'POST /{phone}/message_qrdls?generate_qr_image=png&prefilled_message=Hi%20there',
      responds: { code: /^[A-Z\d]{14}$/, prefilled_message: 'Hi there', qr_image_url: /\.png$/ },
      keeps: { qr_code: 'code' },
    },
    { does: 'lists QR codes', call: 'GET /{phone}/message_qrdls/', responds: { data: [{ code: /./ }] } },
    {
      does: 'reads a QR code',
      call: 'GET /{phone}/message_qrdls/{qr_code}',
      responds: { data: [{ code: '{qr_code}' }] },
    },
    {
      does: 'changes a QR code',
      call: 'POST /{phone}/message_qrdls/{qr_code}?prefilled_message=Hello',
      responds: { code: '{qr_code}', prefilled_message: 'Hello' },
    },
    { does: 'deletes a QR code', call: 'DELETE /{phone}/message_qrdls/{qr_code}', responds: success },
    {
      does: 'asks for a QR code that is gone',
      call: 'GET /{phone}/message_qrdls/{qr_code}',
      status: 400,
      responds: refused(100),
    },
    {
      does: 'uploads a file',
      call: 'POST /{phone}/media?messaging_product=whatsapp',
      parts: [picture('name="file"; filename="blob"', 'Content-Type: image/png')],
      responds: { id: /^\d+$/ },
      keeps: { media: 'id' },
    },
    { does: 'reads about the file', call: 'GET /{media}?', responds: { id: '{media}', url: /^http/ } },
    {
      does: 'asks for the file of another number',
      call: 'GET /{media}?phone_number_id={other_phone}',
      status: 400,
      responds: refused(100, { error_subcode: 33 }),
    },
    { does: 'deletes the file', call: 'DELETE /{media}?phone_number_id={phone}', responds: success },
    {
      does: 'blocks a user',
      call: 'POST /{phone}/block_users',
      json: { messaging_product: 'whatsapp', block_users: [{ user: '{user}' }] },
      responds: { block_users: { added_users: [{ input: '{user}', wa_id: '{user}' }] } },
    },
    {
      does: 'unblocks a user',
      call: 'DELETE /{phone}/block_users',
      json: { messaging_product: 'whatsapp', block_users: [{ user: '{user}' }] },
      responds: { block_users: { removed_users: [{ input: '{user}', wa_id: '{user}' }] } },
    },
  ],
}
