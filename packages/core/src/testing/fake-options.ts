import { own, refuse, shape } from '../options/check.ts'
import { readEnvironment, urlsOf } from '../options/environment.ts'
import { list, object, optional, type ReadAs, type Reader, text } from '../options/reader.ts'
import { checkRatePolicy, type CheckedPolicy } from '../queue/rate-policy.ts'
import { readResend } from '../manager/check-apis.ts'
import type { FakeApiOptions, FakeTokensOptions } from './fake-tokens.ts'

/** The options of a fake manager, as they are used. */
export type CheckedFake = ReadAs<
  FakeTokensOptions,
  { apis: readonly CheckedFakeApi[]; environment: string | undefined; token: string | undefined }
>

export type CheckedFakeApi = ReadAs<
  FakeApiOptions,
  { baseUrl: string; ratePolicy: CheckedPolicy | undefined }
>

const readBaseUrl: Reader<URL> = (value, path) => {
  const allowed = 'an http: or https: URL without a user name, password, query or fragment'
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url === null) refuse(path, typeof value === 'string' ? 'not a URL' : shape(value), allowed)
  const { protocol, username, password, search, hash } = url
  if (!/^https?:$/.test(protocol) || username + password + search + hash !== '')
    refuse(path, 'a URL with other parts', allowed)
  return url
}

const readName = text('the name of an issuer')

/** @throws TokenlaneError `INVALID_OPTIONS`, naming all options that are wrong. */
export const readFake: Reader<CheckedFake> = (options, optionsPath) => {
  const readUrl = urlsOf(own(options, 'environment'))
  const readApi = object<CheckedFakeApi>({
    baseUrl: (value, path) => readUrl(value, path, readBaseUrl).href,
    issuer: optional(readName, 'test'),
    ratePolicy: optional(checkRatePolicy),
    resend: optional(readResend, true),
  })
  return object<CheckedFake>({
    environment: readEnvironment,
    apis: list(
      (value, path) => readApi(typeof value === 'string' ? { baseUrl: value } : value, path),
      'an array of base URLs, or of { baseUrl, issuer, ratePolicy, resend }',
    ),
    issuers: optional(list(readName, 'an array of names'), []),
    token: optional(text('text')),
  })(options, optionsPath)
}
