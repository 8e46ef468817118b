import { second } from '../../../base/time/duration.ts'
import { FilesUnavailable } from '../../unavailable.ts'
import type { InstanceMetadata } from './choose.ts'
import { isToken, type RoleSource } from './credentials.ts'
import { readJsonCredentials, requestSource, type SourceRequest } from './source-request.ts'

const timeout = 2 * second
const name = 'the instance metadata'
const tokenSeconds = 300
const folder = '/latest/meta-data/iam/security-credentials/'

/** The role of a machine (EC2), by version 2 of its metadata: each request has a token that a PUT returned. */
export function openInstanceMetadata({ endpoint }: InstanceMetadata): RoleSource {
  return {
    name: 'instance metadata',
    advice: 'give the machine a role, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    async fetch(signal) {
      const request = (asked: Partial<SourceRequest> & { readonly path: string }) =>
        requestSource({ name, timeout, ...asked, url: endpoint + asked.path }, signal)
      const ttl = { 'x-aws-ec2-metadata-token-ttl-seconds': String(tokenSeconds) }
      const token = (await request({ path: '/latest/api/token', method: 'PUT', headers: ttl })).trim()
      if (!isToken(token)) throw new FilesUnavailable('refused', `${name} answered without a token`)
      const headers = { 'x-aws-ec2-metadata-token': token }
      const [role = ''] = (await request({ path: folder, headers })).trim().split(/\s/)
      if (role === '') throw new FilesUnavailable('refused', `${name} names no role`)
      return readJsonCredentials(name, await request({ path: folder + encodeURIComponent(role), headers }))
    },
  }
}
