import { beginUpper } from '../../ui/begin-upper.ts'

/** What the kinds are called whose names are not what people say. */
const names: Readonly<Record<string, string>> = {
  application: 'app',
  account_number: 'account number',
  extended_credit: 'credit line',
  media: 'media file',
  business_user: 'person of a business',
}

/** In the order in which people look for them: what sends and is sent first, what is behind it last. */
const order = [
  'account',
  'phone_number',
  'template',
  'group',
  'application',
  'business',
  'bot',
  'schedule',
  'solution',
  'onboarding_request',
  'migration_intent',
  'extended_credit',
  'business_user',
  'account_number',
  'upload',
  'media',
]

/** All kinds in that order; what else the service has follows. */
export function listKinds(had: readonly string[]): string[] {
  return [...order, ...had.filter((kind) => !order.includes(kind)).sort()]
}

export function nameKind(kind: string): string {
  return names[kind] ?? kind.replaceAll('_', ' ')
}

/** `Phone numbers`: the name of a list of a kind. */
export function nameKinds(kind: string): string {
  if (kind === 'business_user') return 'People of businesses'
  const name = nameKind(kind)
  return beginUpper(name.endsWith('s') ? `${name}es` : `${name}s`)
}

/** The kinds that one can choose, with how many there are of each as far as that is known; what is chosen is always among them. */
export function listKindOptions(
  counts: Readonly<Record<string, number>> | undefined,
  chosen: string,
): { readonly kind: string; readonly text: string }[] {
  return listKinds(Object.keys(counts ?? {}))
    .filter((kind) => (counts?.[kind] ?? 0) > 0 || kind === chosen)
    .map((kind) => ({
      kind,
      text: counts === undefined ? nameKinds(kind) : `${nameKinds(kind)} (${(counts[kind] ?? 0).toLocaleString()})`,
    }))
}
