import { type CatalogueEntry, listErrors } from '../../../server/src/errors.ts'
import { failures } from '../../../server/src/resources/messages/status/failures.ts'
import { keyOf, meanings } from '../errors-page.ts'

/** The name of each code, for people who write programs: a code says more than its status, whose class has a name already. */
const codeNames: Readonly<Record<number, string>> = {
  1: 'ClientSecretWrong',
  2: 'ServiceFault',
  4: 'RateLimit',
  10: 'FeatureOff',
  100: 'InvalidArgument',
  104: 'TokenMissing',
  190: 'TokenInvalid',
  200: 'PermissionDenied',
  368: 'NumberRestricted',
  803: 'NotFound',
  130429: 'NumberRateLimit',
  131009: 'MessageUnknown',
  131020: 'GroupEmpty',
  131021: 'RecipientIsSender',
  131026: 'Undeliverable',
  131031: 'AccountRejected',
  131041: 'GroupUnknown',
  131047: 'ServiceWindowClosed',
  131048: 'MessagingLimit',
  131049: 'MarketingLimit',
  131050: 'MarketingStopped',
  131051: 'MessageTypeUnsupported',
  131053: 'MediaUnusable',
  131056: 'RecipientRateLimit',
  132000: 'TemplateParameterCount',
  132001: 'TemplateUnknown',
  132005: 'TemplateTooLong',
  132012: 'TemplateParameterInvalid',
  132015: 'TemplatePaused',
  132016: 'TemplateDisabled',
  133005: 'PinWrong',
  133010: 'NumberNotRegistered',
  138003: 'CallOpen',
  138006: 'CallPermissionMissing',
  138009: 'CallPermissionRateLimit',
  138012: 'CallRateLimit',
  139101: 'BlockListFull',
}

const subcodeNames: Readonly<Record<number, string>> = {
  463: 'TokenInvalid',
  467: 'TokenRevoked',
  36007: 'SignUpCodeUsedOrOld',
  36008: 'SignUpRedirectDiffers',
  36009: 'SignUpVerifierWrong',
  2388019: 'TemplateLimit',
  2388023: 'TemplateNameReserved',
  2388024: 'TemplateExists',
  2388040: 'TemplateTextLength',
  2388047: 'TemplateHeaderInvalid',
  2388073: 'TemplateFooterInvalid',
  2388293: 'TemplateTooManyVariables',
  2388299: 'TemplateVariablePlace',
  2390008: 'CallPermissionCheckLimit',
  2446079: 'CallerRateLimit',
  2446080: 'CreationRateLimit',
}

/** The codes of the catalogue and of events by name: `error.code === ErrorCode.ServiceWindowClosed`. */
export function writeErrorCodes(): string {
  const entries = listErrors()
  // What a subcode says is said there, unless the code has nothing else.
  const plain = entries.filter(({ definition }) => definition.subcode === undefined)
  const codes = new Map([...explain(entries, ({ code }) => code), ...explain(plain, ({ code }) => code)])
  for (const [code, { title }] of Object.entries(failures)) {
    codes.set(Number(code), new Set([...(codes.get(Number(code)) ?? []), `In events: ${title}.`]))
  }
  const subcodes = explain(entries, ({ subcode }) => subcode)
  return [
    ...writeNames('ErrorCode', 'What `code` of an error may be, also in events.', codes, codeNames),
    ...writeNames('ErrorSubcode', 'What `subcode` of an error may be.', subcodes, subcodeNames),
  ].join('\n')
}

/** What each number means, in the sentences of the page of errors. */
function explain(
  entries: readonly CatalogueEntry[],
  numberOf: (definition: CatalogueEntry['definition']) => number | undefined,
): Map<number, Set<string>> {
  const found = new Map<number, Set<string>>()
  for (const { definition } of entries) {
    const number = numberOf(definition)
    if (number === undefined) continue
    found.set(number, (found.get(number) ?? new Set()).add(meanings[keyOf(definition)] ?? ''))
  }
  return found
}

function writeNames(
  type: string,
  sentence: string,
  numbers: ReadonlyMap<number, ReadonlySet<string>>,
  names: Readonly<Record<number, string>>,
): string[] {
  const missing = [...numbers.keys()].filter((number) => names[number] === undefined)
  const unused = Object.keys(names).filter((number) => !numbers.has(Number(number)))
  if (missing.length + unused.length > 0) {
    throw new Error(`error-codes.ts: names are missing for ${missing.join()}, and there is no error ${unused.join()}`)
  }
  const members = [...numbers].sort(([one], [other]) => one - other)
  return [
    `/** ${sentence} */`,
    `export const ${type} = {`,
    ...members.flatMap(([number, meanings]) => [
      `  /** ${[...meanings].join(' ')} */`,
      `  ${names[number]}: ${number},`,
    ]),
    '} as const',
    `export type ${type} = (typeof ${type})[keyof typeof ${type}]`,
    '',
  ]
}
