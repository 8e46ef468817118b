import { second } from '../../../base/time/duration.ts'
import { readElement } from '../xml.ts'
import type { WebIdentity } from './choose.ts'
import type { RoleSource } from './credentials.ts'
import { readCredentials, requestSource } from './source-request.ts'
import { readTokenFile } from './token-file.ts'

const timeout = 5 * second
const name = 'the security token service (STS)'

/** The role of a service account, such as of a Kubernetes pod: the token in a file is exchanged for credentials. */
export function openWebIdentity({ tokenFile, roleArn, sessionName, endpoint }: WebIdentity): RoleSource {
  return {
    name: 'web identity',
    advice: 'check that the token in AWS_WEB_IDENTITY_TOKEN_FILE may assume AWS_ROLE_ARN',
    async fetch(signal) {
      const form = new URLSearchParams({
        Action: 'AssumeRoleWithWebIdentity',
        Version: '2011-06-15',
        RoleArn: roleArn,
        RoleSessionName: sessionName,
        WebIdentityToken: await readTokenFile('AWS_WEB_IDENTITY_TOKEN_FILE', tokenFile),
      })
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const asked = { name, method: 'POST', url: endpoint, headers, body: String(form), timeout } as const
      const xml = await requestSource(asked, signal)
      const members = ['AccessKeyId', 'SecretAccessKey', 'SessionToken', 'Expiration']
      return readCredentials(
        name,
        members.map((member) => readElement(xml, member)),
      )
    },
  }
}
