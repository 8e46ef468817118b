import assert from 'node:assert/strict'

/** The apps of the demo world: the first of the owner, the second of a partner that sees none of the accounts used here. */
export const partnerApp = '3000000000000002'
export const redirect_uri = 'http://127.0.0.1:9000/connected'

/** Agrees, or declines, at once, as a test of an app does; what the redirect brings, and the trace. */
export async function signUpAtOnce(url: string, more: Readonly<Record<string, string>>) {
  const query = { client_id: partnerApp, redirect_uri, state: 's', response_type: 'code', auto: 'accept', ...more }
  const response = await fetch(`${url}/dialog/oauth?${new URLSearchParams(query)}`, { redirect: 'manual' })
  assert.equal(response.status, 303, await response.text())
  const { searchParams } = new URL(response.headers.get('location') ?? '')
  return { code: searchParams.get('code'), trace: response.headers.get('x-svctrace-id') ?? '' }
}

/** The token that the partner's app gets for a code. */
export async function exchange(url: string, code: string): Promise<string> {
  const query = { client_id: partnerApp, client_secret: 'partner-app-secret', code, redirect_uri }
  const response = await fetch(`${url}/oauth/access_token?${new URLSearchParams(query)}`)
  const body = (await response.json()) as { access_token: string }
  assert.equal(response.status, 200, JSON.stringify(body))
  return body.access_token
}

const names = [
  'Lucky Shrub of Springfield',
  'شركة النباتات المحظوظة المحدودة للبيع بالتجزئة والجملة',
  'Botanical and horticultural wholesale trading company of the northern and western lowlands',
  '<b>Orchids</b> & "ferns"',
  'Garden',
]

/** Businesses, each with a person, an account and a number, with long names, names from the right and names of markup. */
export function makeCrowd(count: number): { readonly businesses: object[]; readonly accounts: object[] } {
  const all = Array.from({ length: count }, (_, index) => ({
    index,
    name: `${names[index % names.length]} ${index + 1}`,
  }))
  return {
    businesses: all.map(({ index, name }) => ({
      id: String(2_000_000_000_001_000 + index),
      name,
      users: [
        { id: String(2_300_000_000_001_000 + index), name: `Ada ${name}`, email: `ada${index}@shop${index}.example` },
      ],
    })),
    accounts: all.map(({ index, name }) => ({
      id: accountOfCrowd(index),
      business_id: String(2_000_000_000_001_000 + index),
      name: `Shop: ${name}`.slice(0, 100),
      country: 'US',
      phone_numbers: [
        {
          id: String(4_000_000_000_001_000 + index),
          display_phone_number: `+1 631-555-${String(3000 + index)}`,
          verified_name: name,
          registered: true,
        },
      ],
    })),
  }
}

export function accountOfCrowd(index: number): string {
  return String(1_000_000_000_001_000 + index)
}
