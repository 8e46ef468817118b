import { type LibraryRequests, message, refused } from './request.ts'

/** Sends messages alone; `type` stands behind what it describes. */
export const cloudApiBot: LibraryRequests = {
  library: 'whatsapp-cloud-api',
  version: 'v13.0',
  headers: { 'user-agent': 'axios/0.27.2', accept: 'application/json' },
  requests: [
    message('sends a text', 'text', { body: 'Hello' }),
    message('sends a text with a preview', 'text', { body: 'https://luckyshrub.example', preview_url: true }),
    message('sends a linked image', 'image', { link: '{files}/a.png', caption: 'A shrub' }),
    message('sends a document by its link', 'document', {
      link: '{files}/a.pdf',
      caption: 'Prices',
      filename: 'prices.pdf',
    }),
    message('sends a linked voice message', 'audio', { link: '{files}/voice.ogg' }),
    message('sends a linked sticker', 'sticker', { link: '{files}/a.webp' }),
    message('sends a place', 'location', { latitude: 40.7128, longitude: -74.006, name: 'New York' }),
    message('sends a template', 'template', { name: 'hello_world', language: { code: 'en_US' } }),
    message('sends contacts', 'contacts', [
      {
        name: { formatted_name: 'John Doe', first_name: 'John' },
        phones: [{ type: 'HOME', phone: '0712345678' }],
        emails: [{ type: 'HOME', email: 'random@random.com' }],
      },
    ]),
    message('sends reply buttons', 'interactive', {
      body: { text: 'Random body text' },
      footer: { text: 'Random footer text' },
      header: { type: 'text', text: 'Random header Text' },
      type: 'button',
      action: {
        buttons: [
          { type: 'reply', reply: { title: 'Random Title', id: 'random_id' } },
          { type: 'reply', reply: { title: 'Random Title 2', id: 'random_id2' } },
        ],
      },
    }),
    message('sends a list', 'interactive', {
      body: { text: 'Random body text' },
      footer: { text: 'Random footer text' },
      header: { type: 'text', text: 'Random header Text' },
      type: 'list',
      action: {
        button: 'Random button',
        sections: [{ title: 'Section', rows: [{ id: 'xxx-1', title: 'Row', description: 'Described' }] }],
      },
    }),
    {
      ...message('has another token', 'text', { body: 'Hello' }),
      token: 'unknown',
      status: 401,
      responds: refused(190),
    },
    {
      ...message('sends a template in a language that it does not have', 'template', {
        ...{ name: 'hello_world', language: { code: 'de' } },
      }),
      ...{ status: 404, responds: refused(132001) },
    },
  ],
}
