import { BadSetting, isOnThisMachine, webUrl } from '../../../base/setting-parsers.ts'
import { type Credentials, isToken } from './credentials.ts'

/** Settings under Amazon's own names. They are checked only where they are used: on its machines some are always set. */
export interface CredentialSettings {
  readonly awsAccessKeyId: string | undefined
  readonly awsSecretAccessKey: string | undefined
  readonly awsSessionToken: string | undefined
  readonly awsWebIdentityTokenFile: string | undefined
  readonly awsRoleArn: string | undefined
  readonly awsRoleSessionName: string | undefined
  readonly awsEndpointUrlSts: string | undefined
  readonly awsContainerCredentialsRelativeUri: string | undefined
  readonly awsContainerCredentialsFullUri: string | undefined
  readonly awsContainerAuthorizationToken: string | undefined
  readonly awsContainerAuthorizationTokenFile: string | undefined
  readonly awsEc2MetadataDisabled: string | undefined
  readonly awsEc2MetadataServiceEndpoint: string | undefined
}

interface Keys extends Credentials {
  readonly from: 'AWS_ACCESS_KEY_ID'
}

export interface WebIdentity {
  readonly from: 'web identity'
  readonly tokenFile: string
  readonly roleArn: string
  readonly sessionName: string
  readonly endpoint: string
}

export interface Container {
  readonly from: 'container'
  readonly url: string
  /** Sent as `Authorization`; the file wins. */
  readonly token: string | undefined
  readonly tokenFile: string | undefined
}

export interface InstanceMetadata {
  readonly from: 'instance metadata'
  readonly endpoint: string
}

/** Where credentials come from; `from` is for the log. */
export type ChosenSource = Keys | WebIdentity | Container | InstanceMetadata

/** Of the agents of ECS and EKS, which are reached by plain http. */
const agents = new Set(['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]'])
const taskAgent = 'http://169.254.170.2'
const metadataEndpoint = 'http://169.254.169.254'

/** The first source that is set, in the order of Amazon's own libraries; throws a BadSetting where none is. */
export function chooseSource(settings: CredentialSettings, region: string): ChosenSource {
  const found =
    readKeys(settings) ?? readWebIdentity(settings, region) ?? readContainer(settings) ?? readInstanceMetadata(settings)
  if (found) return found
  throw new BadSetting(
    'object storage needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use a role: AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN, AWS_CONTAINER_CREDENTIALS_FULL_URI, or the role of the machine without AWS_EC2_METADATA_DISABLED=true',
  )
}

function readKeys(settings: CredentialSettings): Keys | undefined {
  const { awsAccessKeyId: accessKeyId, awsSecretAccessKey: secretAccessKey, awsSessionToken: sessionToken } = settings
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new BadSetting(
      'only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set; set both, or none of them to use a role',
    )
  }
  if (!isToken(accessKeyId) || (sessionToken !== undefined && !isToken(sessionToken))) {
    throw new BadSetting(
      'AWS_ACCESS_KEY_ID or AWS_SESSION_TOKEN is not usable; it must be printable ASCII without blanks and line breaks',
    )
  }
  return { from: 'AWS_ACCESS_KEY_ID', accessKeyId, secretAccessKey, sessionToken }
}

function readWebIdentity(settings: CredentialSettings, region: string): WebIdentity | undefined {
  const { awsWebIdentityTokenFile: tokenFile, awsRoleArn: roleArn } = settings
  const { awsRoleSessionName: sessionName = 'switchboard', awsEndpointUrlSts: endpoint } = settings
  if (tokenFile === undefined) return undefined
  if (roleArn === undefined) {
    throw new BadSetting('AWS_WEB_IDENTITY_TOKEN_FILE is set without AWS_ROLE_ARN; set the role to assume')
  }
  if (!/^[\w+=,.@-]{2,64}$/.test(sessionName)) {
    throw new BadSetting('AWS_ROLE_SESSION_NAME must be 2 to 64 letters, digits or characters of _+=,.@-')
  }
  const at =
    endpoint === undefined
      ? `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
      : readUrl('AWS_ENDPOINT_URL_STS', endpoint)
  return { from: 'web identity', tokenFile, roleArn, sessionName, endpoint: at }
}

function readContainer(settings: CredentialSettings): Container | undefined {
  const { awsContainerCredentialsRelativeUri: relative, awsContainerCredentialsFullUri: full } = settings
  const { awsContainerAuthorizationToken: token, awsContainerAuthorizationTokenFile: tokenFile } = settings
  if (relative !== undefined) {
    if (!relative.startsWith('/') || !URL.canParse(taskAgent + relative)) {
      throw new BadSetting('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI must be a path such as /v2/credentials/ID')
    }
    return { from: 'container', url: taskAgent + relative, token, tokenFile }
  }
  if (full === undefined) return undefined
  if (!isContainerUrl(full)) {
    throw new BadSetting(
      'AWS_CONTAINER_CREDENTIALS_FULL_URI must be an https URL, or an http URL of this machine or of an agent of ECS or EKS, such as http://169.254.170.23/v1/credentials',
    )
  }
  return { from: 'container', url: full, token, tokenFile }
}

function readInstanceMetadata(settings: CredentialSettings): InstanceMetadata | undefined {
  const { awsEc2MetadataDisabled: disabled, awsEc2MetadataServiceEndpoint: endpoint } = settings
  if (disabled?.toLowerCase() === 'true') return undefined
  const at = endpoint === undefined ? metadataEndpoint : readUrl('AWS_EC2_METADATA_SERVICE_ENDPOINT', endpoint)
  return { from: 'instance metadata', endpoint: at }
}

/** Whether credentials may come from there: over https, from this machine or from an agent of ECS or EKS. */
function isContainerUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url?.protocol === 'https:') return true
  return url?.protocol === 'http:' && (isOnThisMachine(text) || agents.has(url.hostname))
}

function readUrl(name: string, text: string): string {
  try {
    return webUrl(text)
  } catch (error) {
    throw new BadSetting(`${name} is not usable; it must be ${(error as Error).message}`)
  }
}
