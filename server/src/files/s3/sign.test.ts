import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyHash, Signer, type UnsignedRequest } from './sign.ts'

/** The examples that Amazon publishes for S3 and Signature Version 4. */
const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  sessionToken: undefined,
}
const signer = new Signer('us-east-1')
const now = Date.parse('2013-05-24T00:00:00Z')
const plain: UnsignedRequest = {
  method: 'GET',
  origin: 'https://examplebucket.s3.amazonaws.com',
  path: '/',
  query: {},
  headers: {},
  bodyHash: emptyHash,
}

const examples: readonly { name: string; request: UnsignedRequest; target: string; signature: string }[] = [
  {
    name: 'a part of an object',
    request: { ...plain, path: '/test.txt', headers: { range: 'bytes=0-9' } },
    target: '/test.txt',
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  {
    name: 'an object that is stored',
    request: {
      ...plain,
      method: 'PUT',
      path: '/test$file.text',
      headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      bodyHash: '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
    },
    target: '/test%24file.text',
    signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  },
  {
    name: 'a list',
    request: { ...plain, query: { prefix: 'J', 'max-keys': '2' } },
    target: '/?max-keys=2&prefix=J',
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  },
]

for (const { name, request, target, signature } of examples) {
  test(`the signer signs ${name} as Amazon does`, async () => {
    const signed = await signer.sign(request, credentials, now)
    assert.equal(signed.target, target)
    assert.equal(signed.headers['authorization']?.split('Signature=')[1], signature)
  })
}

test('a session token is sent and signed', async () => {
  const { headers } = await signer.sign(plain, { ...credentials, sessionToken: 'of-a-session' }, now)
  assert.equal(headers['x-amz-security-token'], 'of-a-session')
  assert.match(
    headers['authorization'] ?? '',
    /SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,/,
  )
})
