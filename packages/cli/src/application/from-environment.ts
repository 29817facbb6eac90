import {
  createTokenManager,
  envCredentials,
  generalIssuer,
  TokenlaneError,
  type TokenManager,
  type TokenManagerOptions,
  weblinkIssuer,
} from '@tokenlane/core'

import { CannotLook } from '../exit-status.ts'
import type { Source } from './application.ts'

/** What flags and variables say of an application without a module. */
interface FromEnvironment {
  /** The variable or flag of each option that is given a URL, such as `apis[0].baseUrl`. */
  readonly names: ReadonlyMap<string, string>
  /** Variables of APIs that have an issuer and no URL: these APIs are left out. */
  readonly missingApis: readonly string[]
  /**
   * @throws CannotLook if neither flags nor variables give a URL.
   * @throws TokenlaneError `INVALID_OPTIONS` if only some of an issuer's variables are set.
   */
  readonly createTokens: () => TokenManager
}

/**
 * Returns an application with the URLs of the flags. Missing URLs and the credentials come from the documented
 * environment variables: `AUTH_URL`, `API_URL`, `GENERAL_CLIENT_ID`, `GENERAL_CLIENT_SECRET`, and `WEBLINK_AUTH_URL`,
 * `WEBLINK_URL`, `WEBLINK_CLIENT_ID`, `WEBLINK_CLIENT_SECRET`. An issuer of which none is set is left out.
 */
export function fromEnvironment(source: Source): FromEnvironment {
  const all = allGroups(source)
  const groups = all.filter((group) => variablesOf(group).some(({ value }) => value !== undefined))
  const withApi = groups.filter(({ apiUrl }) => apiUrl.value !== undefined)
  return {
    names: new Map([
      ...groups.map(({ issuer, authUrl }) => [`issuers.${issuer}.authUrl`, authUrl.name] as const),
      ...withApi.map(({ apiUrl }, index) => [`apis[${index}].baseUrl`, apiUrl.name] as const),
    ]),
    missingApis: missingOf(groups.map(({ apiUrl }) => apiUrl)),
    createTokens() {
      if (!groups.some(({ authUrl, apiUrl }) => authUrl.value ?? apiUrl.value)) {
        const wanted = (groups.length > 0 ? groups : all.slice(0, 1)).flatMap(variablesOf)
        throw new CannotLook(
          'Found no application: name the module that exports `tokens` (--module src/tokens.ts), or set ' +
            `${missingOf(wanted).join(', ')}, or use --env-file`,
        )
      }
      if (groups.some(({ authUrl }) => authUrl.value === undefined)) {
        const needed = groups.flatMap(({ authUrl, credentials }) => [authUrl, ...credentials])
        throw new TokenlaneError('INVALID_OPTIONS', missingText(missingOf(needed)))
      }
      const issuers = groups.map(({ issuer, authUrl }) => {
        const credentials = envCredentials(issuer.toUpperCase())
        return [issuer, presets[issuer]({ authUrl: authUrl.value ?? '', credentials })]
      })
      return createTokenManager({
        issuers: Object.fromEntries(issuers) as TokenManagerOptions['issuers'],
        apis: withApi.map(({ issuer, apiUrl }) => ({ baseUrl: apiUrl.value ?? '', issuer })),
      })
    },
  }
}

const presets = { general: generalIssuer, weblink: weblinkIssuer }

export function missingText(names: readonly string[]): string {
  return `Missing environment variable${names.length > 1 ? 's' : ''}: ${names.join(', ')}`
}

/** What a variable or flag gives. An empty variable gives nothing. */
interface Given {
  /** The flag where it is given, else the variable. */
  readonly name: string
  readonly value: string | undefined
}

interface Group {
  readonly issuer: 'general' | 'weblink'
  readonly authUrl: Given
  readonly apiUrl: Given
  readonly credentials: readonly Given[]
}

function allGroups({ authUrl, apiUrl, weblinkAuthUrl, weblinkUrl }: Source): Group[] {
  const group = (issuer: Group['issuer'], auth: Given, api: Given): Group => {
    const credentials = ['CLIENT_ID', 'CLIENT_SECRET'].map((field) =>
      given(`${issuer.toUpperCase()}_${field}`),
    )
    return { issuer, authUrl: auth, apiUrl: api, credentials }
  }
  return [
    group('general', given('AUTH_URL', authUrl), given('API_URL', apiUrl)),
    group('weblink', given('WEBLINK_AUTH_URL', weblinkAuthUrl), given('WEBLINK_URL', weblinkUrl)),
  ]
}

function variablesOf({ authUrl, apiUrl, credentials }: Group): Given[] {
  return [authUrl, apiUrl, ...credentials]
}

function missingOf(all: readonly Given[]): string[] {
  return all.filter(({ value }) => value === undefined).map(({ name }) => name)
}

/** The flag of a variable is its name: `--auth-url` for `AUTH_URL`. */
function given(variable: string, ofFlag?: string): Given {
  if (ofFlag === undefined) return { name: variable, value: process.env[variable] || undefined }
  return { name: `--${variable.toLowerCase().replaceAll('_', '-')}`, value: ofFlag }
}
