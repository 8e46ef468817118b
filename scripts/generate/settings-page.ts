import {
  type AddressClassName,
  addressClasses,
  formatRate,
  type Rate,
  type RateClassName,
  rateClasses,
} from '../../server/src/limits/classes.ts'
import { rateSettingName, settings } from '../../server/src/settings.ts'
import { code, writeMark, writeTable } from './markdown.ts'

/** docs/settings.md: every setting. */
export function writeSettingsPage(): string {
  return `${[
    writeMark('`server/src/settings.ts` and `server/src/limits/classes.ts`'),
    '# Settings',
    'Environment variables; a flag of the same meaning wins. A value that cannot be used stops the start with one line that names it.',
    writeTable(['Variable', 'Default', 'Meaning'], listSettingRows()),
    '## Rate limits',
    'So many calls in so long: `100/1s`, or several with commas, all of which hold. Periods are written with `ms`, `s`, `m`, `h` or `d`.',
    writeTable(['Variable', 'Default', 'What it counts'], listRateRows()),
  ].join('\n\n')}\n`
}

/** Every setting but the rates: its name, its default, what it means. */
export function listSettingRows(): string[][] {
  return Object.values(settings).map(({ name, shownDefault, sentence }) => [code(name), shownDefault, sentence])
}

/** The setting of every rate class: its name, its default, what it counts. */
export function listRateRows(): string[][] {
  const ofCallers = Object.entries(rateClasses).map(([name, { rates, sentence }]) => [
    code(rateSettingName(name as RateClassName)),
    writeRates(rates),
    sentence,
  ])
  const ofAddresses = Object.entries(addressClasses).map(([name, { rates, ratesOutsideProduction, sentence }]) => [
    code(rateSettingName(name as AddressClassName)),
    `${writeRates(rates)} in production, otherwise ${writeRates(ratesOutsideProduction)}`,
    sentence,
  ])
  return [...ofCallers, ...ofAddresses]
}

function writeRates(rates: readonly Rate[]): string {
  return code(rates.map(formatRate).join(','))
}
