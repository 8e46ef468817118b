import { field, type LibraryRequests, message, picture, refused, success } from './request.ts'

/** Sends empty texts where a caller gives nothing, and an empty list of components. */
export const netflie: LibraryRequests = {
  library: 'netflie/whatsapp-cloud-api',
  version: 'v17.0',
  headers: { 'user-agent': 'GuzzleHttp/7' },
  requests: [
    message('sends a text', 'text', { preview_url: false, body: 'Hello' }),
    message('replies', 'text', { preview_url: true, body: 'Yes' }, { context: { message_id: '{incoming}' } }),
    message('sends a linked document', 'document', {
      caption: 'Prices',
      filename: 'prices.pdf',
      link: '{files}/a.pdf',
    }),
    message('sends a template without parameters', 'template', {
      ...{ name: 'hello_world', language: { code: 'en_US' }, components: [] },
    }),
    message('sends a template with parameters', 'template', {
      name: 'order_ready',
      language: { code: 'en_US' },
      components: [
        { type: 'header', parameters: [{ type: 'text', text: 'A7' }] },
        {
          type: 'body',
          parameters: [
            { type: 'text', text: '*Mr Jones*' },
            { type: 'text', text: 'A7' },
          ],
        },
        { type: 'button', sub_type: 'url', index: 1, parameters: [{ type: 'text', text: 'A7' }] },
      ],
    }),
    message('sends an image without a caption', 'image', { caption: '', id: '{picture}' }),
    message('sends a linked video', 'video', { link: '{files}/a.mp4', caption: 'How to prune' }),
    message('sends a linked sticker', 'sticker', { link: '{files}/a.webp' }),
    message('sends a place', 'location', {
      ...{ longitude: -3.7, latitude: 40.4, name: 'Lucky Shrub', address: 'Gran Via 1' },
    }),
    message('sends a place without names', 'location', { longitude: -3.7, latitude: 40.4, name: '', address: '' }),
    message('sends a contact', 'contacts', [
      {
        name: { formatted_name: 'Adams Smith', first_name: 'Adams', last_name: 'Smith' },
        phones: [{ phone: '34676204577', type: 'CELL', wa_id: '34676204577' }],
      },
    ]),
    message('sends a list', 'interactive', {
      type: 'list',
      header: { type: 'text', text: 'Rate your experience' },
      body: { text: 'Please consider rating your visit' },
      footer: { text: 'Thanks for your time' },
      action: {
        button: 'Submit',
        sections: [{ title: 'Stars', rows: [{ id: '1', title: '⭐️', description: 'It was not good enough' }] }],
      },
    }),
    message('sends a link to open', 'interactive', {
      type: 'cta_url',
      action: { name: 'cta_url', parameters: { display_text: 'See Dates', url: 'https://www.example.com' } },
      header: { type: 'text', text: 'Booking' },
      body: { text: 'Tap the button below to see available dates.' },
      footer: { text: 'Dates subject to change.' },
    }),
    message('takes a reaction back', 'reaction', { message_id: '{incoming}', emoji: '' }),
    {
      does: 'uploads a file',
      call: 'POST /{phone}/media',
      parts: [
        picture('name="file"; filename="shrub.png"', 'Content-Length: {picture_length}', 'Content-Type: image/png'),
        field('type', 'image/png', 'Content-Length: 9'),
        field('messaging_product', 'whatsapp', 'Content-Length: 8'),
      ],
      responds: { id: /^\d+$/ },
      keeps: { media: 'id' },
    },
    { does: 'asks where the file is', call: 'GET /{media}', responds: { url: /^http/ } },
    {
      does: 'marks a message as read',
      call: 'POST /{phone}/messages',
      json: { messaging_product: 'whatsapp', status: 'read', message_id: '{incoming}' },
      responds: success,
    },
    {
      does: 'reads the profile',
      call: 'GET /{phone}/whatsapp_business_profile?fields=about,email',
      responds: { data: [{}] },
    },
    {
      does: 'changes the profile',
      call: 'POST /{phone}/whatsapp_business_profile',
      json: { messaging_product: 'whatsapp', about: 'About', email: 'hi@luckyshrub.example' },
      responds: success,
    },
    {
      ...message('sends a template without the parameters that it has', 'template', {
        ...{ name: 'order_update', language: { code: 'en_US' }, components: [] },
      }),
      ...{ status: 400, responds: refused(132000) },
    },
    {
      ...message('sends a product of a catalogue that there is not', 'interactive', {
        type: 'product',
        body: { text: 'This one' },
        action: { catalog_id: '1', product_retailer_id: '2' },
      }),
      ...{ status: 400, responds: refused(131009) },
    },
    {
      does: 'sends a text without a text',
      call: 'POST /{phone}/messages',
      json: { messaging_product: 'whatsapp', recipient_type: 'individual', to: '{user}', type: 'text' },
      status: 400,
      responds: refused(100),
    },
  ],
}
