import {
  type AddressClassName,
  addressClasses,
  formatRate,
  type Rate,
  type RateClassName,
  rateClasses,
} from '../../server/src/limits/classes.ts'
import { rateSettingName, settings } from '../../server/src/settings/index.ts'
import { groups, type SettingGroup } from '../../server/src/settings/setting.ts'
import { code, writeMark, writeTable } from './markdown.ts'

/** docs/settings.md: every setting, by who has to agree on it. */
export function writeSettingsPage(): string {
  return `${[
    writeMark('`server/src/settings/` and `server/src/limits/classes.ts`'),
    '# Settings',
    'Environment variables; a flag of the same meaning wins. A value that cannot be used stops the start with one line that names it.',
    '`NODE_ENV=production` changes the defaults of some: there is no demo world and no sandbox, secrets need a key, and callbacks must be public ([in production](running.md#in-production)).',
    'There are three groups. Processes of one database compare the second and the third, and [report a difference](running.md#processes-that-disagree).',
    ...groupNames.flatMap((group) => [
      `## ${groups[group].title}`,
      groups[group].sentence,
      writeTable(['Variable', 'Default', 'Meaning'], listGroupRows(group)),
    ]),
  ].join('\n\n')}\n`
}

const groupNames = Object.keys(groups) as SettingGroup[]

function listGroupRows(group: SettingGroup): string[][] {
  return group === 'limits' ? [...listSettingRows(group), ...listRateRows()] : listSettingRows(group)
}

/** Every setting but the rates, or those of one group: its name, its default, what it means. */
export function listSettingRows(ofGroup?: SettingGroup): string[][] {
  return Object.values(settings)
    .filter(({ group }) => ofGroup === undefined || group === ofGroup)
    .map(({ name, shownDefault, sentence }) => [code(name), shownDefault, sentence])
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
