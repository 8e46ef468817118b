import { type AllowedEntry, parseAllowed } from '../auth/allowed-operators.ts'
import { duration, issuerUrl, onOff, scopeList } from '../base/setting-parsers.ts'
import { hour } from '../base/time/duration.ts'
import { define } from './setting.ts'

/** The console, and how operators sign in to it. */
export const consoleSettings = {
  consoleOn: define({
    name: 'CONSOLE',
    group: 'process',
    shownDefault: 'on',
    sentence: 'Whether the console is served; everything else works without it.',
    parse: onOff,
    fallback: () => true,
  }),
  consoleSession: define({
    name: 'CONSOLE_SESSION',
    group: 'platform',
    shownDefault: '12h',
    sentence: 'How long somebody who signed in to the console stays signed in.',
    parse: duration,
    fallback: () => 12 * hour,
  }),
  oidcIssuer: define<string | undefined>({
    name: 'OIDC_ISSUER',
    group: 'platform',
    shownDefault: 'unset: operators sign in by links',
    sentence:
      'The OpenID Connect issuer that operators sign in to the console with, such as https://login.example.com/realms/staff; https, or http on this machine outside production.',
    parse: issuerUrl,
    fallback: () => undefined,
  }),
  oidcClientId: define<string | undefined>({
    name: 'OIDC_CLIENT_ID',
    group: 'platform',
    shownDefault: 'unset',
    sentence:
      'The client id of this service at the issuer of OIDC_ISSUER; its redirect URI is PUBLIC_URL/console/sign-in/callback.',
    parse: (text) => text,
    fallback: () => undefined,
  }),
  oidcClientSecret: define<string | undefined>({
    name: 'OIDC_CLIENT_SECRET',
    group: 'platform',
    shownDefault: 'unset',
    sentence: 'The secret of OIDC_CLIENT_ID.',
    parse: (text) => text,
    fallback: () => undefined,
    isSecret: true,
  }),
  oidcAllow: define<readonly AllowedEntry[]>({
    name: 'OIDC_ALLOW',
    group: 'platform',
    shownDefault: 'unset',
    sentence:
      'Who may sign in with OIDC_ISSUER, separated by commas: verified e-mail addresses, and groups as group:NAME; =ID after an entry, or =ID+ID, limits it to these businesses.',
    parse: parseAllowed,
    fallback: () => [],
  }),
  oidcScopes: define({
    name: 'OIDC_SCOPES',
    group: 'platform',
    shownDefault: 'openid email profile',
    sentence:
      'The scopes to request from the issuer, separated by blanks; some issuers list groups only with the scope groups.',
    parse: scopeList,
    fallback: () => 'openid email profile',
  }),
  oidcGroupsClaim: define({
    name: 'OIDC_GROUPS_CLAIM',
    group: 'platform',
    shownDefault: 'groups',
    sentence: 'The claim of the issuer that holds the names of the groups of a person.',
    parse: (text) => text,
    fallback: () => 'groups',
  }),
  oidcPeople: define({
    name: 'OIDC_PEOPLE',
    group: 'platform',
    shownDefault: 'off',
    sentence:
      'Whether people of businesses may sign in to the dialog of the sign-up with OIDC_ISSUER, by a verified e-mail address that a business has of them; they can sign in with codes all the same.',
    parse: onOff,
    fallback: () => false,
  }),
}
