import { deadCallback } from './events.ts'

/** An account of another app, whose subscriber takes nothing. */
export const neighbourNumber = { account_id: '1000000000000009', phone_number_id: '4000000000000009' }
const neighbourApp = '3000000000000009'
export const neighbour = {
  apps: [
    {
      id: neighbourApp,
      business_id: '2000000000000001',
      secret: 's',
      webhook: { callback_url: deadCallback, fields: ['messages'] },
    },
  ],
  accounts: [
    {
      id: neighbourNumber.account_id,
      business_id: '2000000000000001',
      name: 'Lucky Shrub abroad',
      subscribed_apps: [neighbourApp],
      phone_numbers: [
        { id: neighbourNumber.phone_number_id, display_phone_number: '+1 631-555-1009', registered: true },
      ],
    },
  ],
}
