import { field, type LibraryRequests, message, picture, refused, success } from './request.ts'

/** Names the charset of JSON, and uploads without saying the type again. */
export const javaApi: LibraryRequests = {
  library: 'whatsapp-business-java-api',
  version: 'v19.0',
  headers: {
    'user-agent': 'okhttp/4.12.0',
    'content-type': 'application/json; charset=UTF-8',
  },
  requests: [
    message('sends a text', 'text', { preview_url: false, body: '*Hello world!*\nSome code: \n```here```' }),
    message('sends an image by its id', 'image', { id: '{picture}', caption: 'A shrub' }),
    message('sends a place with coordinates as text', 'location', {
      ...{ longitude: '-84.265742', latitude: '39.284064' },
      ...{ name: 'Loveland Castle Museum', address: '12025 Shore Dr, Loveland, OH 45140' },
    }),
    message('sends a contact', 'contacts', [
      {
        addresses: [{ street: 'street', city: 'city', state: 'state', zip: '12345', type: 'HOME' }],
        emails: [{ email: 'email@example.com', type: 'WORK' }],
        name: { formatted_name: 'Mauricio Binda', first_name: 'Mauricio' },
        phones: [{ phone: '1212121212', type: 'WORK' }],
      },
    ]),
    message('sends buttons', 'interactive', {
      action: { buttons: [{ type: 'reply', reply: { id: 'UNIQUE_BUTTON_ID_1', title: 'BUTTON_TITLE_1' } }] },
      type: 'button',
      body: { text: 'Body message' },
      footer: { text: 'Footer message' },
    }),
    message('sends a list', 'interactive', {
      action: {
        button: 'BUTTON_TEXT',
        sections: [
          { title: 'Title 1', rows: [{ id: 'SECTION_1_ROW_1_ID', title: 'Title 1', description: 'Description 1' }] },
          { title: 'Title 2', rows: [{ id: 'SECTION_2_ROW_1_ID', title: 'Title 2', description: 'Description 2' }] },
        ],
      },
      type: 'list',
      header: { type: 'text', text: 'Header Text' },
      body: { text: 'Body message' },
    }),
    message('sends a template', 'template', {
      components: [
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'Maria' },
            { type: 'text', text: '04/11/2022' },
          ],
        },
      ],
      language: { code: 'en_US' },
      name: 'order_update',
    }),
    message('reacts', 'reaction', { message_id: '{incoming}', emoji: '\u{1F600}' }),
    message('replies', 'text', { preview_url: false, body: 'Yes' }, { context: { message_id: '{incoming}' } }),
    {
      does: 'uploads a file',
      call: 'POST /{phone}/media',
      parts: [
        picture('name="file"; filename="shrub.png"', 'Content-Type: image/png', 'Content-Length: {picture_length}'),
        field('messaging_product', 'whatsapp', 'Content-Length: 8'),
      ],
      responds: { id: /^\d+$/ },
      keeps: { media: 'id' },
    },
    {
      does: 'uploads a file without the product',
      call: 'POST /{phone}/media',
      parts: [picture('name="file"; filename="shrub.png"', 'Content-Type: image/png')],
      status: 400,
      responds: refused(100),
    },
    {
      does: 'asks where the file is',
      call: 'GET /{media}',
      responds: { id: '{media}', mime_type: 'image/png', url: /^http/ },
    },
    { does: 'deletes the file', call: 'DELETE /{media}', responds: success },
    {
      does: 'marks a message as read',
      call: 'POST /{phone}/messages',
      json: { messaging_product: 'whatsapp', status: 'read', message_id: '{incoming}' },
      responds: success,
    },
    {
      does: 'creates a template',
      call: 'POST /{account}/message_templates',
      json: {
        ...{ name: 'schedule_confirmation', category: 'UTILITY' },
        components: [
          { format: 'TEXT', type: 'HEADER', text: 'Confirmação de Atendimento' },
          {
            type: 'BODY',
            text: 'Olá *{{1}}*, confirme seu horário no dia *{{2}}* as *{{3}}h*.\nVocê confirma?',
            example: { body_text: [['Maria', '04/11/2022', '13:30']] },
          },
          {
            buttons: [
              { type: 'QUICK_REPLY', text: 'SIM' },
              { type: 'QUICK_REPLY', text: 'NÃO' },
            ],
            type: 'BUTTONS',
          },
          { type: 'FOOTER', text: 'Utilize um dos botões abaixo' },
        ],
        language: 'pt_BR',
      },
      responds: { id: /^\d+$/, status: /^(PENDING|APPROVED)$/, category: 'UTILITY' },
    },
    {
      does: 'lists templates',
      call: 'GET /{account}/message_templates?limit=2&category=UTILITY',
      responds: { data: [{ category: 'UTILITY' }, { category: 'UTILITY' }], paging: { cursors: {} } },
    },
    {
      does: 'deletes a template',
      call: 'DELETE /{account}/message_templates?name=schedule_confirmation',
      responds: success,
    },
    {
      does: 'reads the number',
      call: 'GET /{phone}?fields=verified_name,code_verification_status,display_phone_number,quality_rating,name_status',
      responds: { id: '{phone}', verified_name: /./, display_phone_number: /^\+/ },
    },
    { does: 'lists the numbers', call: 'GET /{account}/phone_numbers', responds: { data: [{ id: /^\d+$/ }] } },
    {
      does: 'requests a code',
      call: 'POST /{new_phone}/request_code',
      json: { code_method: 'VOICE', language: 'pt_BR' },
      responds: success,
    },
    { does: 'verifies the code', call: 'POST /{new_phone}/verify_code', json: { code: '{code}' }, responds: success },
    { does: 'sets a PIN', call: 'POST /{new_phone}', json: { pin: '123456' }, responds: success },
  ],
}
