import { field, type LibraryRequests, message, picture, refused, success } from './request.ts'

const code = { code: '{qr_code}', prefilled_message: 'Cyber Monday', deep_link_url: /^http/ }

/** Asks for the newest version; sends parameters of writes in the query, and empty members to take something back. */
export const pywa: LibraryRequests = {
  library: 'pywa',
  version: 'v26.0',
  headers: { 'user-agent': 'PyWa/3.4.0', accept: '*/*' },
  requests: [
    message('sends a text', 'text', { preview_url: false, body: 'Hello' }),
    message(
      'tracks a message',
      'text',
      { preview_url: true, body: 'https://luckyshrub.example' },
      {
        biz_opaque_callback_data: '{"order":42}',
      },
    ),
    message('replies', 'text', { preview_url: false, body: 'Yes' }, { context: { message_id: '{incoming}' } }),
    message('reacts', 'reaction', { emoji: '👍', message_id: '{incoming}' }),
    message('takes a reaction back', 'reaction', { emoji: '', message_id: '{incoming}' }),
    {
      does: 'uploads a file',
      call: 'POST /{phone}/media',
      parts: [
        picture('name="file"; filename="pywa.png"', 'Content-Type: image/png'),
        field('messaging_product', 'whatsapp'),
        field('type', 'image/png'),
      ],
      responds: { id: /^\d+$/ },
      keeps: { media: 'id' },
    },
    message('sends the file', 'image', { id: '{media}', caption: 'A shrub' }),
    {
      does: 'asks for the address of the file',
      call: 'GET /{media}',
      responds: { url: /^http/, mime_type: 'image/png', sha256: /./, id: '{media}', messaging_product: 'whatsapp' },
    },
    { does: 'deletes the file', call: 'DELETE /{media}?phone_number_id={phone}', responds: success },
    {
      does: 'asks for the deleted file',
      call: 'GET /{media}',
      status: 400,
      responds: refused(100, { error_subcode: 33, type: 'GraphMethodException' }),
    },
    message('sends buttons with a tracker', 'interactive', {
      type: 'button',
      action: { buttons: [{ type: 'reply', reply: { id: 'a', title: 'A' } }] },
      body: { text: 'A?' },
    }),
    message('sends a button with a link', 'interactive', {
      type: 'cta_url',
      action: { name: 'cta_url', parameters: { display_text: 'Open', url: 'https://luckyshrub.example' } },
      body: { text: 'The catalogue' },
      footer: { text: 'Spring' },
    }),
    message('asks for the place of a user', 'interactive', {
      type: 'location_request_message',
      action: { name: 'send_location' },
      body: { text: 'Where are you?' },
    }),
    message('sends a template with parameters of every kind', 'template', {
      name: 'order_ready',
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
        { type: 'button', sub_type: 'quick_reply', index: 0, parameters: [{ type: 'payload', payload: 'coming' }] },
        { type: 'button', sub_type: 'url', index: 1, parameters: [{ type: 'text', text: 'A7' }] },
      ],
    }),
    {
      ...message('sends a template with too few parameters', 'template', {
        ...{ name: 'order_update', language: { code: 'en_US' } },
        components: [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }],
      }),
      ...{ status: 400, responds: refused(132000) },
    },
    {
      does: 'takes the other callback of a number back',
      call: 'POST /{phone}/',
      json: { webhook_configuration: { override_callback_uri: '' } },
      responds: success,
    },
    {
      does: 'shows that it types',
      call: 'POST /{phone}/messages',
      json: {
        ...{ messaging_product: 'whatsapp', status: 'read', message_id: '{incoming}' },
        typing_indicator: { type: 'text' },
      },
      responds: success,
    },
    {
      does: 'reads the number',
      call: 'GET /{phone}?fields=verified_name,code_verification_status,display_phone_number,quality_rating,platform_type,throughput,last_onboarded_time,name_status,messaging_limit_tier,is_official_business_account,account_mode',
      responds: { id: '{phone}', platform_type: 'CLOUD_API', throughput: { level: 'STANDARD' } },
    },
    { does: 'lists the numbers', call: 'GET /{account}/phone_numbers', responds: { data: [{ id: /^\d+$/ }] } },
    { does: 'reads the account', call: 'GET /{account}', responds: { id: '{account}' } },
    {
      does: 'reads the profile',
      call: 'GET /{phone}/whatsapp_business_profile?fields=about,address,description,email,profile_picture_url,websites,vertical',
      responds: { data: [{}] },
    },
    {
      does: 'changes the profile',
      call: 'POST /{phone}/whatsapp_business_profile',
      json: { about: 'Shrubs since 1995', websites: ['https://luckyshrub.example'], messaging_product: 'whatsapp' },
      responds: success,
    },
    {
      does: 'sets what the chat offers',
      call: 'POST /{phone}/conversational_automation',
      json: {
        enable_welcome_message: true,
        prompts: ['Book a visit'],
        commands: [{ command_name: 'hours', command_description: 'When we are open' }],
      },
      responds: success,
    },
    {
      does: 'creates a template',
      call: 'POST /{account}/message_templates',
      json: {
        ...{ name: 'pywa_visit', language: 'en_US', category: 'UTILITY', parameter_format: 'POSITIONAL' },
        components: [
          { type: 'BODY', text: 'Thank you for your visit, {{1}}.', example: { body_text: [['Ada']] } },
          { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Again' }] },
        ],
      },
      responds: { id: /^\d+$/, status: /^(PENDING|APPROVED)$/, category: 'UTILITY' },
      keeps: { template: 'id' },
    },
    {
      does: 'lists templates',
      call: 'GET /{account}/message_templates?fields=id,name,status,category,language,components&limit=50&summary=total_count',
      responds: { data: [{ id: /^\d+$/ }], paging: { cursors: { after: /./ } } },
    },
    {
      does: 'deletes the template by its id',
      call: 'DELETE /{account}/message_templates?name=pywa_visit&hsm_id={template}',
      responds: success,
    },
    {
      does: 'makes a QR code',
      call: 'POST /{phone}/message_qrdls',
      json: { prefilled_message: 'Cyber Monday', generate_qr_image: 'PNG' },
      responds: { code: /^[A-Z\d]{14}$/, prefilled_message: 'Cyber Monday', qr_image_url: /^http/ },
      keeps: { qr_code: 'code' },
    },
    { does: 'reads the QR code', call: 'GET /{phone}/message_qrdls/{qr_code}', responds: { data: [code] } },
    {
      does: 'changes the QR code',
      call: 'POST /{phone}/message_qrdls',
      json: { code: '{qr_code}', prefilled_message: 'Cyber Tuesday' },
      responds: { code: '{qr_code}', prefilled_message: 'Cyber Tuesday' },
    },
    { does: 'deletes the QR code', call: 'DELETE /{phone}/message_qrdls/{qr_code}', responds: success },
    {
      does: 'blocks a user',
      call: 'POST /{phone}/block_users',
      json: { messaging_product: 'whatsapp', block_users: [{ user: '{user}' }] },
      responds: { messaging_product: 'whatsapp', block_users: { added_users: [{ input: '{user}', wa_id: '{user}' }] } },
    },
    {
      does: 'lists blocked users',
      call: 'GET /{phone}/block_users?limit=10',
      responds: { data: [{ wa_id: '{user}' }] },
    },
    {
      does: 'unblocks a user',
      call: 'DELETE /{phone}/block_users',
      json: { messaging_product: 'whatsapp', block_users: [{ user: '{user}' }] },
      responds: { block_users: { removed_users: [{ wa_id: '{user}' }] } },
    },
    {
      does: 'opens a resumable upload',
      call: 'POST /{app}/uploads?file_name=logo.png&file_length={picture_length}&file_type=image/png',
      responds: { id: /^upload:/ },
      keeps: { upload: 'id' },
    },
    { does: 'asks how far it is', call: 'GET /{upload}', responds: { id: '{upload}', file_offset: 0 } },
    {
      does: 'uploads the bytes',
      call: 'POST /{upload}',
      headers: { file_offset: '0', 'content-type': 'application/octet-stream' },
      bytes: 'picture',
      responds: { h: /./ },
    },
    { does: 'lists the apps of the account', call: 'GET /{account}/subscribed_apps', responds: { data: [] } },
    {
      does: 'takes the other callback of the account back',
      call: 'POST /{account}/subscribed_apps',
      responds: success,
    },
    {
      does: 'subscribes a callback, with everything in the query',
      call: 'POST /{app}/subscriptions?object=whatsapp_business_account&callback_url={files}/callback&verify_token=vt&fields=messages,calls&access_token={token}',
      responds: success,
    },
    {
      does: 'sets another callback of the account',
      call: 'POST /{account}/subscribed_apps',
      json: { override_callback_uri: '{files}/callback', verify_token: 'vt' },
      responds: success,
    },
    {
      does: 'finds the other callback of the account',
      call: 'GET /{account}/subscribed_apps',
      responds: { data: [{ override_callback_uri: '{files}/callback' }] },
    },
    { does: 'takes that callback back', call: 'POST /{account}/subscribed_apps', responds: success },
    {
      does: 'sets the public key of the business in a form',
      call: 'POST /{phone}/whatsapp_business_encryption',
      form: { business_public_key: '{public_key}' },
      responds: success,
    },
    {
      does: 'reads what a user permits',
      call: 'GET /{phone}/call_permissions?user_wa_id={user}',
      responds: { messaging_product: 'whatsapp', permission: { status: /./ }, actions: [{ limits: [] }] },
    },
    {
      does: 'calls without a session',
      call: 'POST /{phone}/calls',
      json: { messaging_product: 'whatsapp', to: '{user}', action: 'connect' },
      status: 400,
      responds: refused(100),
    },
    {
      ...message('sends a flow that there is not', 'interactive', {
        type: 'flow',
        action: {
          name: 'flow',
          parameters: {
            ...{ flow_message_version: '3', flow_token: 'unused', flow_id: '1234567890', mode: 'published' },
            ...{ flow_cta: 'Sign up', flow_action: 'navigate', flow_action_payload: { screen: 'START' } },
          },
        },
        body: { text: 'Sign up' },
      }),
      ...{ status: 400, responds: refused(131009) },
    },
    {
      does: 'changes the name of a number',
      call: 'POST /{new_phone}',
      json: { new_display_name: 'Lucky Shrub Garden', messaging_product: 'whatsapp' },
      responds: success,
    },
  ],
}
