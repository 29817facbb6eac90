import { nearestOf } from './nearest.ts'

/** Where options belong, and their names in other libraries. */
const names: Readonly<Record<string, string>> = {
  'apis[0].baseUrl': 'url host apiUrl prefixUrl',
  'apis[0].ratePolicy': 'rateLimit rateLimits rateLimiter throttle',
  'apis[0].ratePolicy.concurrency': 'maxConcurrent maxConcurrency',
  'apis[0].ratePolicy.limits': 'limit',
  'apis[0].ratePolicy.limits[0].quota':
    'limit max requests points reservoir intervalCap rps rpm callsPerSecond requestsPerSecond requestsPerMinute',
  'apis[0].ratePolicy.limits[0].window': 'interval period per duration windowMs',
  'apis[0].ratePolicy.maxQueued': 'maxQueue highWater',
  'apis[0].ratePolicy.spread': 'minTime',
  'apis[0].refusedStatuses': 'refreshStatuses statusCodes',
  'apis[0].resend': 'retry retries',
  'apis[0].scheme': 'tokenType prefix',
  'issuers.<name>.clientAuthentication': 'authMethod tokenEndpointAuthMethod',
  'issuers.<name>.credentials': 'client auth clientCredentials',
  'issuers.<name>.credentials.certificate': 'cert',
  'issuers.<name>.credentials.clientId': 'id appId username',
  'issuers.<name>.credentials.clientSecret': 'secret appSecret password',
  'issuers.<name>.credentials.keyId': 'kid',
  'issuers.<name>.credentials.passphrase':
    'password pfxPassword certificatePassword keyPassword keyPassphrase',
  'issuers.<name>.credentials.pfx': 'p12 pkcs12',
  'issuers.<name>.credentials.privateKey': 'key',
  'issuers.<name>.credentials.secretIssuedAt': 'issuedAt secretCreatedAt',
  'issuers.<name>.maxWait': '',
  'apis[0].ratePolicy.maxWait': '',
  'issuers.<name>.parameters.audience': 'aud',
  'issuers.<name>.parameters.resource': '',
  'issuers.<name>.renewBefore': 'refreshBefore leeway expiryBuffer',
  'issuers.<name>.requestTimeout': 'timeout timeoutMs',
  'issuers.<name>.scope': 'scopes',
  'issuers.<name>.tokenEndpoint': 'tokenUrl tokenUri accessTokenUri tokenEndpointUrl authorizationServer',
  observe: 'logger log onEvent observer',
  store: 'cache tokenStore redis',
}

/** What goes without an option that people look for, or with another function. */
const ways: Readonly<Record<string, string>> = {
  granttype: 'client_credentials alone, without an option',
  authurl: '`tokenEndpoint`, `authUrl` with `tokenPath`, or generalIssuer({ authUrl, ... })',
}

export const wayWithout = (unknown: string): string | undefined =>
  Object.hasOwn(ways, fold(unknown)) ? ways[fold(unknown)] : undefined

/** Returns the path of the option that was probably meant, seen from a place with these options. */
export function meantBy(unknown: string, allowed: readonly string[]): string | undefined {
  if (unknown.length > 40) return undefined
  for (const path of pathsOf(unknown)) {
    const found = pathFrom(path, allowed)
    if (found !== undefined) return found
  }
  return nearestOf(unknown, allowed)
}

/**
 * Returns the path of the option that an unknown one at `place`, of an issuer or an API, probably meant if it is not one of
 * these; else nothing.
 */
export function meantElsewhere(unknown: string, place: string): string | undefined {
  const [folder] = /^(?:issuers\.|apis\[)/.exec(place) ?? []
  return folder === undefined ? undefined : pathsOf(unknown).find((path) => !path.startsWith(folder))
}

function pathsOf(unknown: string): readonly string[] {
  const folded = fold(unknown)
  return Object.entries(names)
    .filter(([path, others]) => [lastOf(path), ...others.split(' ')].some((name) => fold(name) === folded))
    .map(([path]) => path)
}

function pathFrom(path: string, allowed: readonly string[]): string | undefined {
  const parts = path.split('.')
  const start = parts.findLastIndex((part) => allowed.includes(part.replace('[0]', '')))
  return start < 0 ? undefined : parts.slice(start).join('.')
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1)
const fold = (name: string): string => name.replaceAll(/[-_]/g, '').toLowerCase()
