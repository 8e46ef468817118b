import { type LibraryRequests, message, refused, success } from './request.ts'

/** Takes its version from the environment, and calls a number with a slash at the end of the path. */
export const nodeSdk: LibraryRequests = {
  library: 'whatsapp (the Node.js SDK)',
  version: 'v16.0',
  headers: { 'user-agent': 'WA_SDK/0.0.5 (Node.js v20.11.0)' },
  requests: [
    message('sends a text', 'text', { body: 'Hello', preview_url: false }),
    message('replies to a message', 'text', { body: 'You are welcome' }, { context: { message_id: '{incoming}' } }),
    message('sends an image by its link', 'image', { link: '{files}/a.png', caption: 'A shrub' }),
    message('sends an image by its id', 'image', { id: '{picture}' }),
    message('sends a document by its link', 'document', { link: '{files}/a.pdf', filename: 'prices.pdf' }),
    message('sends a voice message by its link', 'audio', { link: '{files}/voice.ogg' }),
    message('sends a video by its link', 'video', { link: '{files}/a.mp4', caption: 'How to prune' }),
    message('sends a sticker by its link', 'sticker', { link: '{files}/a.webp' }),
    message('sends a place', 'location', {
      ...{ longitude: -122.148981, latitude: 37.483307 },
      ...{ name: 'Lucky Shrub', address: '1 Hacker Way, Menlo Park' },
    }),
    message('sends a contact', 'contacts', [
      {
        name: { formatted_name: 'Ada Lovelace', first_name: 'Ada', last_name: 'Lovelace' },
        phones: [{ phone: '+1 650 555 1234', type: 'WORK', wa_id: '16505551234' }],
        emails: [{ email: 'ada@example.com', type: 'WORK' }],
        org: { company: 'Analytical Engines', department: 'Design', title: 'Programmer' },
        addresses: [
          { street: '1 Main St', city: 'Menlo Park', state: 'CA', zip: '94025', country_code: 'us', type: 'HOME' },
        ],
        urls: [{ url: 'https://www.example.com', type: 'WORK' }],
        birthday: '1815-12-10',
      },
    ]),
    message('sends buttons', 'interactive', {
      type: 'button',
      header: { type: 'image', image: { id: '{picture}' } },
      body: { text: 'Shall we keep it for you?' },
      footer: { text: 'Until Friday' },
      action: {
        buttons: [
          { type: 'reply', reply: { id: 'keep', title: 'Keep it' } },
          { type: 'reply', reply: { id: 'no', title: 'No, thanks' } },
        ],
      },
    }),
    message('sends a list', 'interactive', {
      type: 'list',
      header: { type: 'text', text: 'Our shrubs' },
      body: { text: 'Which one?' },
      action: {
        button: 'Choose',
        sections: [
          { title: 'Evergreen', rows: [{ id: 'box', title: 'Box', description: 'Slow, and neat' }] },
          { title: 'Others', rows: [{ id: 'lilac', title: 'Lilac' }] },
        ],
      },
    }),
    message('sends a template', 'template', {
      name: 'order_update',
      language: { policy: 'deterministic', code: 'en_US' },
      components: [
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'Ada' },
            { type: 'text', text: 'A7' },
          ],
        },
      ],
    }),
    {
      ...message('sends a template that does not exist', 'template', {
        name: 'no_such_template',
        language: { code: 'en_US' },
      }),
      ...{ status: 404, responds: refused(132001) },
    },
    {
      does: 'marks a message as read',
      call: 'POST /{phone}/messages',
      json: { messaging_product: 'whatsapp', status: 'read', message_id: '{incoming}' },
      responds: success,
    },
    {
      does: 'requests a code',
      call: 'POST /{new_phone}/request_code',
      json: { code_method: 'SMS', language: 'en_US' },
      responds: success,
    },
    { does: 'verifies the code', call: 'POST /{new_phone}/verify_code', json: { code: '{code}' }, responds: success },
    { does: 'sets a PIN', call: 'POST /{new_phone}/', json: { pin: '123456' }, responds: success },
  ],
}
