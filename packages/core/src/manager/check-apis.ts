import { TokenlaneError } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { own, refuse } from '../options/check.ts'
import { insecureHosts, type ReadUrl, withoutLastSlash } from '../options/urls.ts'
import { didYouMean } from '../options/nearest.ts'
import {
  type Description,
  fitting,
  list,
  object,
  optional,
  type ReadAs,
  type Reader,
  statusCodes,
  text,
} from '../options/reader.ts'
import { type CheckedPolicy, checkRatePolicy, type Limit } from '../limits/rate-policy.ts'
import { refusedByDefault } from '../send/bearer-challenge.ts'
import { isRequestBound } from '../runtime/request-bound.ts'
import type { ApiOptions } from './manager-options.ts'

export type CheckedApi = ReadAs<ApiOptions, { baseUrl: string; ratePolicy: CheckedPolicy | undefined }>

/** Returns a reader of APIs. `givenAt` is the place of a single API that is not an item of `apis`. */
export function readApis(
  issuers: Readonly<Record<string, unknown>>,
  readUrl: ReadUrl,
  givenAt: string | undefined,
): Reader<readonly CheckedApi[]> {
  const names = Object.keys(issuers)
  const allowed = issuerNames(names)
  const pathsByUrl = new Map<string, string>()
  const read: Reader<CheckedApi> = (api, path) => {
    const isInsecureAllowed = insecureHosts(own(issuers, String(own(api, 'issuer'))))
    return object<CheckedApi>({
      baseUrl(url, urlPath) {
        const { href } = readUrl(url, urlPath, isInsecureAllowed)
        const withoutSlash = withoutLastSlash(href)
        const other = pathsByUrl.get(withoutSlash)
        if (other !== undefined) refuse(urlPath, `the same as \`${other}\``, 'one API per base URL')
        pathsByUrl.set(withoutSlash, urlPath)
        return href
      },
      issuer(name, namePath) {
        const given = text(allowed)(name, namePath)
        // where there are none, that is the mistake
        return names.length === 0 || Object.hasOwn(issuers, given)
          ? given
          : refuse(namePath, `not a name from \`issuers\`${didYouMean(given, names)}`, allowed)
      },
      ratePolicy: optional(readRatePolicy),
      ...readingCalls(api),
    })(api, givenAt ?? path)
  }
  const readAll = list(read, 'an array, which may be empty')
  return (value, path) => {
    const apis = readAll(value, path)
    mustAgree(apis, givenAt ?? path)
    return apis
  }
}

function mustAgree(apis: readonly CheckedApi[], path: string): void {
  const byName = new Map<string, { readonly limit: Limit; readonly at: string }>()
  for (const [index, { ratePolicy }] of apis.entries())
    for (const [each, limit] of (ratePolicy?.limits ?? []).entries()) {
      if (limit.name === undefined) continue
      const at = `${path}[${index}].ratePolicy.limits[${each}]`
      const known = byName.get(limit.name)
      if (known === undefined) byName.set(limit.name, { limit, at })
      else if ((['quota', 'window', 'timeZone'] as const).some((part) => known.limit[part] !== limit[part]))
        refuse(`${at}.name`, `'${limit.name}', as that of \`${known.at}\``, 'one definition for each name')
    }
}

/** Reads a rate policy. A runtime that ends timers with their incoming request would leave slots and queued calls behind. */
const readRatePolicy: Reader<CheckedPolicy> = (value, path) => {
  if (!isRequestBound()) return checkRatePolicy(value, path)
  throw new TokenlaneError(
    'RUNTIME_UNSUPPORTED',
    `\`${path}\` is set, but edge runtimes cannot enforce a rate policy`,
  )
}

export function readingCalls(
  api: unknown,
): Pick<Description<CheckedApi>, 'resend' | 'refusedStatuses' | 'scheme'> {
  const limited = own(own(api, 'ratePolicy'), 'limitedStatuses')
  const statuses = statusCodes(499, [429, limited].flat(), '429 and `ratePolicy.limitedStatuses`')
  return {
    resend: optional(readResend, true),
    refusedStatuses: optional(statuses, refusedByDefault),
    scheme: optional(readScheme, 'Bearer'),
  }
}

/** Reads a token of RFC 9110 §5.6.2, which has no space: `Bearer ` would send two. */
const readScheme = fitting<string>(
  (scheme) => typeof scheme === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(scheme),
  "a word without spaces, such as 'Bearer' or 'OAuth'",
)

const methods = "true, false or uppercase methods, such as ['GET', 'HEAD']"
const readMethods = list(
  fitting<string>((method) => typeof method === 'string' && /^[A-Z]+(?:-[A-Z]+)*$/.test(method), methods),
  methods,
)

const readResend: Reader<boolean | readonly string[]> = (value, path) =>
  typeof value === 'boolean' ? value : readMethods(value, path)

export function issuerNames(issuers: Iterable<string>): string {
  return `one of ${Array.from(issuers, (name) => printable(name)).join(', ')}`
}
