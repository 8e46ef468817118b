import { type LibraryRequests, message, refused, success } from './request.ts'

const product = {
  head: ['Content-Type: text/plain; charset=utf-8', 'Content-Disposition: form-data; name=messaging_product'],
  text: 'whatsapp',
}

/** Names parts without quotation marks, and uploads pictures as a form that is none. */
export const netApi: LibraryRequests = {
  library: 'WhatsappBusiness.CloudApi',
  version: 'v22.0',
  headers: { 'content-type': 'application/json; charset=utf-8' },
  requests: [
    message('sends a text', 'text', { preview_url: false, body: 'Hello' }),
    message(
      'sends a tracked text',
      'text',
      { preview_url: false, body: 'Hello' },
      { biz_opaque_callback_data: 'order-42' },
    ),
    message('replies', 'text', { preview_url: false, body: 'Yes' }, { context: { message_id: '{incoming}' } }),
    message('sends a template', 'template', {
      name: 'order_update',
      language: { code: 'en_US' },
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
      ...message('sends a template in a language that it does not have', 'template', {
        ...{ name: 'order_update', language: { code: 'fr' } },
      }),
      ...{ status: 404, responds: refused(132001) },
    },
    {
      does: 'uploads a file',
      call: 'POST /{phone}/media',
      parts: [
        { head: ['Content-Disposition: form-data; name=file; filename=shrub.png', 'Content-Type: image/png'] },
        product,
      ],
      responds: { id: /^\d+$/ },
      keeps: { media: 'id' },
    },
    {
      does: 'asks where the file is',
      call: 'GET /{media}?phone_number_id={phone}',
      responds: { id: '{media}', url: /^http/ },
    },
    { does: 'deletes the file', call: 'DELETE /{media}/?phone_number_id={phone}', responds: success },
    {
      does: 'opens a resumable upload',
      call: 'POST /{app}/uploads/?file_length={picture_length}&file_type=image/png&file_name=logo.png',
      responds: { id: /^upload:/ },
      keeps: { upload: 'id' },
    },
    {
      does: 'uploads the bytes',
      call: 'POST /{upload}',
      token: 'oauth',
      headers: { file_offset: '0', 'content-type': 'application/x-www-form-urlencoded' },
      bytes: 'picture',
      responds: { h: /./ },
      keeps: { handle: 'h' },
    },
    {
      does: 'asks how far the upload is',
      call: 'GET /{upload}',
      token: 'oauth',
      headers: { 'cache-control': 'no-cache' },
      responds: { id: '{upload}' },
    },
    {
      does: 'sets the picture of the profile',
      call: 'POST /{phone}/whatsapp_business_profile',
      json: {
        ...{ messaging_product: 'whatsapp', about: 'Shrubs', address: '1 Garden Way', description: 'Trees and shrubs' },
        ...{ email: 'hi@luckyshrub.example', vertical: 'RETAIL', websites: ['https://luckyshrub.example'] },
        profile_picture_handle: '{handle}',
      },
      responds: success,
    },
    {
      does: 'reads the profile',
      call: 'GET /{phone}/whatsapp_business_profile?fields=about,address,description,email,profile_picture_url,websites,vertical',
      responds: { data: [{ about: 'Shrubs', vertical: 'RETAIL', profile_picture_url: /^http/ }] },
    },
    {
      does: 'reads the account',
      call: 'GET /{account}?fields=id,name,currency,timezone_id,message_template_namespace,account_review_status,business_verification_status,country,owner_business_info,primary_business_location,purchase_order_number,status,health_status',
      responds: { id: '{account}', currency: /./, owner_business_info: { id: /^\d+$/ } },
    },
    {
      does: 'reads a template',
      call: 'GET /{order_template}',
      responds: { id: '{order_template}', name: 'order_update' },
    },
    {
      does: 'looks for a template by its name',
      call: 'GET /{account}/message_templates?name=order_update',
      responds: { data: [{ name: 'order_update' }] },
    },
    {
      does: 'creates a template',
      call: 'POST /{account}/message_templates',
      json: {
        ...{ name: 'net_visit', category: 'MARKETING', allow_category_change: true, language: 'en_US' },
        components: [{ type: 'BODY', text: 'Come and see us.' }],
      },
      responds: { id: /^\d+$/, category: 'MARKETING' },
      keeps: { template: 'id' },
    },
    {
      does: 'deletes the template by its id',
      call: 'DELETE /{account}/message_templates?hsm_id={template}&name=net_visit',
      responds: success,
    },
    {
      does: 'sets the commands of the chat in the query',
      call: 'POST /{phone}/conversational_automation?commands=%5B%7B%22command_name%22%3A%22hours%22%2C%22command_description%22%3A%22When%22%7D%5D',
      responds: success,
    },
    { does: 'subscribes its app', call: 'POST /{account}/subscribed_apps', responds: success },
    {
      does: 'lists subscribed apps',
      call: 'GET /{account}/subscribed_apps',
      responds: { data: [{ whatsapp_business_api_data: { id: '{app}', name: /./, link: /^http/ } }] },
    },
    { does: 'unsubscribes its app', call: 'DELETE /{account}/subscribed_apps', responds: success },
    {
      does: 'requests a code',
      call: 'POST /{new_phone}/request_code',
      form: { code_method: 'SMS', locale: 'en_US', language: 'en_US' },
      responds: success,
    },
    { does: 'verifies the code', call: 'POST /{new_phone}/verify_code', json: { code: '{code}' }, responds: success },
    {
      does: 'registers the number',
      call: 'POST /{new_phone}/register',
      json: { messaging_product: 'whatsapp', pin: '123456' },
      responds: success,
    },
    { does: 'deregisters the number', call: 'POST /{new_phone}/deregister', responds: success },
    {
      does: 'asks for a field that there is not',
      call: 'GET /{phone}?fields=nonsense',
      status: 400,
      responds: refused(100),
    },
    {
      does: 'reads an object that there is not',
      call: 'GET /1234567890123456',
      status: 400,
      responds: refused(100, { error_subcode: 33, type: 'GraphMethodException' }),
    },
  ],
}
