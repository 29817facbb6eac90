import { mustBeObject, refuse, shape } from '../options/check.ts'
import { type Description, list, object, optional, type Reader, text } from '../options/reader.ts'
import { checkRatePolicy, type CheckedPolicy } from '../queue/rate-policy.ts'
import { readResend } from '../manager/check-apis.ts'
import type { FakeTokensOptions } from './fake-tokens.ts'

/** The options of a fake manager, as they are used. */
export interface CheckedFake {
  readonly apis: readonly CheckedFakeApi[]
  readonly issuers: readonly string[]
  readonly token: string | undefined
}

export interface CheckedFakeApi {
  readonly baseUrl: string
  readonly issuer: string
  readonly ratePolicy: CheckedPolicy | undefined
  readonly resend: boolean | readonly string[]
}

const readBaseUrl: Reader<string> = (value, path) => {
  const allowed = 'an http: or https: URL without user name, password, query and fragment'
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url === null) refuse(path, typeof value === 'string' ? 'not a URL' : shape(value), allowed)
  const { protocol, username, password, search, hash } = url
  if (!/^https?:$/.test(protocol) || username + password + search + hash !== '')
    refuse(path, 'a URL of another form', allowed)
  return url.href
}

/** Reads one URL, or that of the environment where there is one for each. */
function readPlace(environment: unknown): Reader<string> {
  return (value, path) => {
    if (typeof value !== 'object') return readBaseUrl(value, path)
    mustBeObject(value, path)
    if (typeof environment === 'string' && Object.hasOwn(value, environment))
      return readBaseUrl(value[environment], `${path}.${environment}`)
    const given = environment === undefined ? 'missing' : 'another name'
    return refuse(
      'environment',
      given,
      `one of ${Object.keys(value).join(', ')}, since \`${path}\` is given per environment`,
    )
  }
}

const readName = text('the name of an issuer')

const readApi = (environment: unknown): Reader<CheckedFakeApi> =>
  object<CheckedFakeApi>({
    baseUrl: readPlace(environment),
    issuer: optional(readName, 'test'),
    ratePolicy: optional(checkRatePolicy),
    resend: optional(readResend, true),
  })

/** @throws TokenlaneError `INVALID_OPTIONS`, naming all options that are wrong. */
export const readFake: Reader<CheckedFake> = (options, optionsPath) => {
  const api = readApi((options as { environment?: unknown } | undefined)?.environment)
  return object<CheckedFake & { readonly environment: unknown }>({
    environment: optional(text('a name, such as testing or production')),
    apis: list(
      (value, path) => api(typeof value === 'string' ? { baseUrl: value } : value, path),
      'an array of base URLs, or of { baseUrl, issuer, ratePolicy, resend }',
    ),
    issuers: optional(list(readName, 'an array of names'), []),
    token: optional(text('text')),
  } satisfies Description<Required<FakeTokensOptions>>)(options, optionsPath)
}
