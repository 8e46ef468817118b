import type { Environment } from './base/environment.ts'
import { BadSetting, isOnThisMachine } from './base/setting-parsers.ts'
import { chooseSource } from './files/s3/credentials/choose.ts'
import { addressClasses, parseRate, type Rate, rateClasses } from './limits/classes.ts'
import type { AnyRateClassName, Config } from './settings/config.ts'
import { rateSettingName, settings } from './settings/index.ts'
import type { Setting } from './settings/setting.ts'

export { BadSetting, type Config, type Environment }

function readSetting<T>(
  { name, parse, fallback, isSecret }: Setting<T>,
  environment: Environment,
  soFar: Partial<Config>,
): T {
  const text = environment[name]
  if (text === undefined || text === '') return fallback(soFar, environment)
  try {
    return parse(text)
  } catch (error) {
    const shown = isSecret ? 'not usable' : JSON.stringify(hideCredentials(text))
    throw new BadSetting(`${name} is ${shown}; it must be ${(error as Error).message}`)
  }
}

/** The query of a web address may hold a key, too, and that of a database a password. */
function hideCredentials(text: string): string {
  const from = text.indexOf('//')
  // The last @: a password may have one of its own.
  const to = text.lastIndexOf('@')
  const shown = from !== -1 && to > from ? `${text.slice(0, from)}//…${text.slice(to)}` : text
  return shown.replace(/^((?:https?|postgres(?:ql)?):[^?#]*[?#]).+$/is, '$1…')
}

/** Reads every setting from the environment, already overridden by flags. */
export function readConfig(environment: Environment): Config {
  const values: Record<string, unknown> = { production: environment['NODE_ENV'] === 'production' }
  for (const [key, setting] of Object.entries(settings)) {
    values[key] = readSetting(setting as Setting<unknown>, environment, values)
  }
  const rates = readRates(environment)
  values['rates'] = rates
  values['messagePairRate'] = rates.message_pair[0]
  const config = values as unknown as Config
  checkBudgets(config)
  if (config.filesUrl) chooseSource(config, config.filesUrl.region)
  checkOidc(config)
  return config
}

/** All of them or none; and over the wire only what nobody else can read. */
function checkOidc(config: Config): void {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcAllow, oidcPeople, publicUrl, production } = config
  const given = {
    OIDC_ISSUER: oidcIssuer !== undefined,
    OIDC_CLIENT_ID: oidcClientId !== undefined,
    OIDC_CLIENT_SECRET: oidcClientSecret !== undefined,
    OIDC_ALLOW: oidcAllow.length > 0,
  }
  const names = Object.entries(given)
  const missing = names.filter(([, isGiven]) => !isGiven).map(([name]) => name)
  if (missing.length === names.length && oidcPeople) {
    throw new BadSetting(
      `OIDC_PEOPLE is on without ${missing.join(', ')}; people sign in with the issuer of the operators, which needs all four`,
    )
  }
  if (missing.length === names.length) return
  if (missing.length > 0) {
    const set = names.filter(([, isGiven]) => isGiven).map(([name]) => name)
    throw new BadSetting(
      `${set.join(', ')} set without ${missing.join(', ')}; signing in by OpenID Connect needs all four`,
    )
  }
  if (!production) return
  if (oidcIssuer?.startsWith('http:')) {
    throw new BadSetting(`OIDC_ISSUER is ${JSON.stringify(oidcIssuer)}; in production it must be an https URL`)
  }
  if (publicUrl === undefined || (publicUrl.startsWith('http:') && !isOnThisMachine(publicUrl))) {
    throw new BadSetting(
      'OIDC_ISSUER is set and PUBLIC_URL is not https; in production browsers come back from the issuer to PUBLIC_URL, which must be an https URL',
    )
  }
}

/** A body of the largest size must fit; a post while it is checked, too, with its read-ahead. */
function checkBudgets(config: Config): void {
  const { maxBodyBytes, webhookMaxBodyBytes, maxBodyBytesPerToken, maxUnauthenticatedBytesPerAddress } = config
  const largest = Math.max(maxBodyBytes, webhookMaxBodyBytes)
  if (maxBodyBytesPerToken < largest) {
    throw new BadSetting(
      `MAX_BODY_BYTES_PER_TOKEN is ${maxBodyBytesPerToken}; it must be at least MAX_BODY_BYTES and WEBHOOK_MAX_BODY_BYTES, ${largest}`,
    )
  }
  const smallest = 2 * webhookMaxBodyBytes
  if (maxUnauthenticatedBytesPerAddress < smallest) {
    throw new BadSetting(
      `MAX_UNPROVEN_BYTES_PER_ADDRESS is ${maxUnauthenticatedBytesPerAddress}; it must be at least twice WEBHOOK_MAX_BODY_BYTES, ${smallest}`,
    )
  }
}

/** The default rate of a class. */
function listDefaultRates(production: boolean): [AnyRateClassName, readonly Rate[]][] {
  const ofAddresses = Object.entries(addressClasses).map(([name, { rates, ratesOutsideProduction }]) => [
    name,
    production ? rates : ratesOutsideProduction,
  ])
  const ofCallers = Object.entries(rateClasses).map(([name, { rates }]) => [name, rates])
  return [...ofCallers, ...ofAddresses] as [AnyRateClassName, readonly Rate[]][]
}

function readRates(environment: Environment): Record<AnyRateClassName, readonly Rate[]> {
  const defaults = listDefaultRates(environment['NODE_ENV'] === 'production')
  const known = new Set([
    ...defaults.map(([rateClass]) => rateSettingName(rateClass)),
    ...Object.values(settings).map(({ name }) => name),
  ])
  const unknown = Object.keys(environment).find((name) => name.startsWith('RATE_LIMIT_') && !known.has(name))
  if (unknown !== undefined) {
    const names = [...known].filter((name) => name.startsWith('RATE_LIMIT_'))
    throw new BadSetting(`${unknown} is not a setting; the rate limits are ${names.join(', ')}`)
  }
  const rates = defaults.map(([rateClass, rates]) => {
    const name = rateSettingName(rateClass)
    const text = environment[name]
    if (text === undefined || text === '') return [rateClass, rates]
    const parsed = text.split(',').map(parseRate)
    if (parsed.some((rate) => rate === undefined)) {
      throw new BadSetting(
        `${name} is ${JSON.stringify(text)}; it must be a rate such as 100/1s, or several with commas`,
      )
    }
    return [rateClass, parsed]
  })
  return Object.fromEntries(rates)
}
