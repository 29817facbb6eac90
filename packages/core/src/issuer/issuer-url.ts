import { besides, refuse } from '../options/check.ts'
import { insecureHosts, type ReadUrl, withoutLastSlash } from '../options/urls.ts'
import { type Description, fitting, type Reader } from '../options/reader.ts'
import { generalPath, type IssuerOptions, weblinkPath } from './issuer-options.ts'

type Given = Readonly<Record<string, unknown>>

export type UrlOptions = {
  readonly [Name in keyof Pick<IssuerOptions, 'authUrl' | 'tokenPath' | 'tokenEndpoint' | 'issuer'>]-?:
    | (Name extends 'tokenPath' ? string : URL)
    | undefined
}

export function urlOptionOf(given: Given): 'authUrl' | 'issuer' | 'tokenEndpoint' {
  if ('tokenPath' in given) return 'authUrl'
  return given['issuer'] === undefined ? 'tokenEndpoint' : 'issuer'
}

/** Returns the readers of the options that say where a server is: those that go together, and no others. */
export function describeUrl(
  given: Given,
  readUrl: ReadUrl,
  mayDiscover: boolean,
): Partial<Description<UrlOptions>> {
  const url: Reader<URL> = (value, option) =>
    String(value).includes('/.well-known/')
      ? refuse(option, 'the URL of metadata', 'a URL without /.well-known/')
      : // a token endpoint may have a query (RFC 6749 §3.2)
        readUrl(
          value,
          option,
          insecureHosts(given),
          urlOption === 'tokenEndpoint' ? 'query allowed' : undefined,
        )
  const urlOption = urlOptionOf(given)
  const excluded = urlOption !== 'tokenEndpoint' &&
    given['tokenEndpoint'] !== undefined && { tokenEndpoint: besides(urlOption) }
  if (urlOption !== 'authUrl')
    return { ...excluded, [urlOption]: urlOption === 'issuer' && !mayDiscover ? refuseIssuer : url }
  return {
    ...excluded,
    authUrl: (value, option) => below(url(value, option), option, given['tokenPath']),
    tokenPath: fitting<string>(isTokenPath, 'a path that begins with /, such as /oauth/token'),
  }
}

const refuseIssuer: Reader<never> = (_, path) =>
  refuse(path, 'an option only `oauthIssuer` supports', 'oauthIssuer({ issuer, ... }), or `tokenEndpoint`')

const isTokenPath = (value: unknown): value is string => typeof value === 'string' && value.startsWith('/')

/** Appends the token path to the URL before it, in which no part of it may stand already. */
function below(url: URL, option: string, tokenPath: unknown): URL {
  // a wrong path has an error of its own
  const path = isTokenPath(tokenPath) ? tokenPath : '/'
  const base = withoutLastSlash(url.pathname)
  for (let end = path.length; end > 1; end = path.lastIndexOf('/', end - 1))
    if (base.endsWith(path.slice(0, end)))
      refuse(
        option,
        'a URL that ends with the token path or part of it',
        `a URL without ${path}, which is appended`,
      )
  const endpoint = new URL(url)
  endpoint.pathname = base + path
  return endpoint
}

/** Returns the end of a sentence: the likely mistake if no token endpoint is at the path; empty if none is likely. */
export function mistakeOf(tokenPath: string | undefined): string {
  if (tokenPath === generalPath) return `; is it the weblink issuer's, whose path is ${weblinkPath}?`
  if (tokenPath === weblinkPath) return `; is it the general issuer's, whose path is ${generalPath}?`
  return ''
}
