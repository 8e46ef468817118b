import { second } from '../../../base/time/duration.ts'
import { FilesUnavailable } from '../../unavailable.ts'
import type { Container } from './choose.ts'
import { isToken, type RoleSource } from './credentials.ts'
import { readJsonCredentials, requestSource } from './source-request.ts'
import { readTokenFile } from './token-file.ts'

const timeout = 2 * second
const name = 'the credentials endpoint of the container'

/** The role of an ECS task or of an EKS pod: an agent beside the container gives out its credentials. */
export function openContainer({ url, token, tokenFile }: Container): RoleSource {
  const readToken = async () =>
    tokenFile === undefined ? token : readTokenFile('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', tokenFile)
  return {
    name: 'container',
    advice: 'check the role of the task or pod',
    async fetch(signal) {
      const authorization = await readToken()
      if (authorization !== undefined && !isHeader(authorization)) {
        throw new FilesUnavailable('refused', 'AWS_CONTAINER_AUTHORIZATION_TOKEN cannot be sent in a header')
      }
      const headers = { accept: 'application/json', ...(authorization !== undefined && { authorization }) }
      return readJsonCredentials(name, await requestSource({ name, url, headers, timeout }, signal))
    },
  }
}

/** A scheme may stand before the token. */
function isHeader(text: string): boolean {
  return text.split(' ').every(isToken)
}
