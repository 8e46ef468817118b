/** The templates of the busy world, of every status, category and kind of part that a world file can hold; two more are asked for. */
export function makeTemplates(): object[] {
  return [...shown, ...makeOthers(24 - shown.length)].map((template, index) => ({
    id: String(5_100_000_000_000_001 + index),
    language: 'en_US',
    category: 'UTILITY',
    ...template,
  }))
}

const body = (text: string, ...examples: string[]) => ({
  type: 'BODY',
  text,
  ...(examples.length > 0 && { example: { body_text: [examples] } }),
})

const shown: readonly object[] = [
  { name: 'hello_world', components: [body('Welcome to Lucky Shrub.')] },
  {
    name: 'order_update',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}', example: { header_text: ['A7'] } },
      body('Hello *{{1}}*, your order _{{2}}_ is ready to be picked up.', 'Ada', 'A7'),
      { type: 'FOOTER', text: 'Lucky Shrub' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'I am coming' },
          {
            type: 'URL',
            text: 'Where to',
            url: 'https://luckyshrub.example/orders/{{1}}',
            example: ['https://luckyshrub.example/orders/A7'],
          },
          { type: 'PHONE_NUMBER', text: 'Call us', phone_number: '+16315551001' },
        ],
      },
    ],
  },
  { name: 'closing_sale', category: 'MARKETING', components: [body('Everything must go. 🌵')] },
  {
    name: 'order_update',
    language: 'ar',
    components: [body('مرحبا {{1}}، طلبك رقم {{2}} جاهز للاستلام من المتجر.', 'آدا', 'A7')],
  },
  {
    name: 'winter_hours',
    status: 'REJECTED',
    rejected_reason: 'INVALID_FORMAT',
    components: [body('We close at five in winter.')],
  },
  {
    name: 'sign_in_code',
    category: 'AUTHENTICATION',
    components: [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'FOOTER', code_expiration_minutes: 10 },
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }] },
    ],
  },
]

const states = [
  { status: 'APPROVED', quality_score: 'GREEN' },
  { status: 'PENDING' },
  { status: 'PAUSED', quality_score: 'RED' },
  { status: 'REJECTED', rejected_reason: 'PROMOTIONAL' },
  { status: 'DISABLED', quality_score: 'RED' },
]

function makeOthers(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
    name:
      index === 0
        ? 'a_template_with_a_name_of_seventy_letters_that_nobody_would_choose_twice'
        : `campaign_${String(index + 1).padStart(2, '0')}`,
    category: index % 2 === 0 ? 'MARKETING' : 'UTILITY',
    ...states[index % states.length],
    components: [body(`Campaign ${index + 1}: everything green for less, until Saturday.`)],
  }))
}
