import assert from 'node:assert/strict'

/** Lets a person of the demo world connect an account to the app of the partner, and returns the id of the connection. */
export async function connectByDialog(url: string): Promise<string> {
  const query = new URLSearchParams({
    client_id: '3000000000000002',
    redirect_uri: 'http://127.0.0.1:9000/connected',
    state: 'examples',
    response_type: 'code',
    auto: 'accept',
  })
  const { status } = await fetch(`${url}/dialog/oauth?${query}`, { redirect: 'manual' })
  assert.equal(status, 303)
  const headers = { authorization: 'Bearer demo-operator-token' }
  const listed = await fetch(`${url}/operator/connections?state=live`, { headers })
  const { data } = (await listed.json()) as { data: { id: string }[] }
  return data[0]?.id ?? ''
}
