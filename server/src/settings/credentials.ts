import { define, type Setting } from './setting.ts'

/** A setting that Amazon's tools and machines set under the same name; it is checked where it is used. */
function defineAws(name: string, sentence: string, isSecret = false): Setting<string | undefined> {
  return define<string | undefined>({
    name,
    group: 'process',
    shownDefault: 'unset',
    sentence,
    parse: (text) => text,
    fallback: () => undefined,
    isSecret,
  })
}

/** The credentials for the object storage of FILES_URL. */
export const credentialsSettings = {
  awsAccessKeyId: defineAws(
    'AWS_ACCESS_KEY_ID',
    'The id of the key for the object storage of FILES_URL; unset: the credentials of a role, from the first source that is set.',
    true,
  ),
  awsSecretAccessKey: defineAws('AWS_SECRET_ACCESS_KEY', 'The secret key for the object storage of FILES_URL.', true),
  awsSessionToken: defineAws(
    'AWS_SESSION_TOKEN',
    'The session token that goes with a temporary key for the object storage of FILES_URL.',
    true,
  ),
  awsWebIdentityTokenFile: defineAws(
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'The file of the token that is exchanged for the credentials of AWS_ROLE_ARN; read again at each renewal.',
  ),
  awsRoleArn: defineAws('AWS_ROLE_ARN', 'The role that the token of AWS_WEB_IDENTITY_TOKEN_FILE assumes.'),
  awsRoleSessionName: defineAws(
    'AWS_ROLE_SESSION_NAME',
    'The name of the session of AWS_ROLE_ARN, for the logs of the storage; unset: switchboard.',
  ),
  awsEndpointUrlSts: defineAws(
    'AWS_ENDPOINT_URL_STS',
    'Where the token of AWS_WEB_IDENTITY_TOKEN_FILE is exchanged; unset: STS of Amazon in the region of FILES_URL.',
  ),
  awsContainerCredentialsRelativeUri: defineAws(
    'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
    'The path at http://169.254.170.2 that gives out the credentials of an ECS task.',
    true,
  ),
  awsContainerCredentialsFullUri: defineAws(
    'AWS_CONTAINER_CREDENTIALS_FULL_URI',
    'The URL that gives out the credentials of a container or an EKS pod: https, or http on this machine or at an agent of ECS or EKS.',
  ),
  awsContainerAuthorizationToken: defineAws(
    'AWS_CONTAINER_AUTHORIZATION_TOKEN',
    'The Authorization header for AWS_CONTAINER_CREDENTIALS_FULL_URI.',
    true,
  ),
  awsContainerAuthorizationTokenFile: defineAws(
    'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
    'The file of the Authorization header for AWS_CONTAINER_CREDENTIALS_FULL_URI, read again at each renewal; used before AWS_CONTAINER_AUTHORIZATION_TOKEN.',
  ),
  awsEc2MetadataDisabled: defineAws(
    'AWS_EC2_METADATA_DISABLED',
    'true: the credentials of the role of an EC2 machine are not used.',
  ),
  awsEc2MetadataServiceEndpoint: defineAws(
    'AWS_EC2_METADATA_SERVICE_ENDPOINT',
    'Where the metadata of the machine is (IMDSv2); unset: http://169.254.169.254.',
  ),
}
