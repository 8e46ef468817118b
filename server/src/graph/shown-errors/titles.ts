/** The short titles of codes in the public reference; with a subcode, of that subcode alone. */
const titles: Readonly<Record<string, string>> = {
  '1': 'Error validating client secret',
  '2': 'API Service',
  '4': 'API Too Many Calls',
  '10': 'Permission Denied',
  '100': 'Invalid parameter',
  '100/33': 'Object does not exist, cannot be loaded due to missing permissions, or does not support this operation',
  '104': 'An access token is required',
  '190': 'Invalid OAuth access token',
  '190/463': 'Access token has expired',
  '190/467': 'Access token has been invalidated',
  '200': 'API Permission',
  '368': 'Temporarily blocked for policies violations',
  '803': 'Some of the aliases you requested do not exist',
  '130429': 'Rate limit hit',
  '131000': 'Something went wrong',
  '131009': 'Parameter value is not valid',
  '131016': 'Service unavailable',
  '131020': 'Group has no participants',
  '131021': 'Recipient cannot be sender',
  '131026': 'Message undeliverable',
  '131031': 'Account has been locked',
  '131041': 'Group does not exist',
  '131047': 'Re-engagement message',
  '131051': 'Unsupported message type',
  '131053': 'Media upload error',
  '131056': '(Business Account, Consumer Account) pair rate limit hit',
  '132000': 'Template Param Count Mismatch',
  '132001': 'Template does not exist',
  '132005': 'Template Hydrated Text Too Long',
  '132012': 'Template Parameter Format Mismatch',
  '132015': 'Template is Paused',
  '132016': 'Template is Disabled',
  '133005': 'Two step verification PIN Mismatch',
  '133010': 'Phone number Not Registered',
  '138003': 'Duplicate call',
  '138006': 'No approved call permission',
  '138009': 'Call permission request limit hit',
  '138012': 'Business initiated calls limit hit',
  '139101': 'Blocklist limit reached',
}

/** What the public platform calls the faults of templates, for the person who writes them. */
const titlesForPeople: Readonly<Record<number, string>> = {
  2388019: 'Message template limit exceeded',
  2388023: 'Message template is being deleted',
  2388024: 'Content in this language already exists',
  2388040: 'Message template field character limit exceeded',
  2388047: 'Message header format is incorrect',
  2388073: 'Message footer format is incorrect',
  2388293: 'Parameter words ratio exceeds limit',
  2388299: 'Leading or trailing parameters not allowed',
}

export function findTitleForPeople(subcode: number | undefined): string | undefined {
  return subcode === undefined ? undefined : titlesForPeople[subcode]
}

/** The title of a code, or of its subcode; a test checks that every error of the catalogue has one. */
export function findErrorTitle(code: number, subcode?: number): string {
  return titles[`${code}/${subcode}`] ?? titles[code] ?? 'Invalid parameter'
}

/** Whether a code has a title of its own. */
export function hasTitle(code: number): boolean {
  return code in titles
}
