import { refuse } from '../options/check.ts'
import { type ReadUrl, withoutLastSlash } from '../options/urls.ts'
import { type Description, optional, type Reader, text } from '../options/reader.ts'
import { generalPath, type IssuerOptions, weblinkPath } from './issuer-options.ts'

type Given = Readonly<Record<string, unknown>>

/** The options that say where a server is, as they are read. */
export type UrlOptions = {
  readonly [Name in keyof Pick<IssuerOptions, 'authUrl' | 'tokenPath' | 'tokenEndpoint' | 'issuer'>]-?:
    | (Name extends 'tokenPath' ? string : URL)
    | undefined
}

/** Returns the name of the option that names the URL. */
export function urlOptionOf(given: Given): 'authUrl' | 'issuer' | 'tokenEndpoint' {
  if ('tokenPath' in given) return 'authUrl'
  return given['issuer'] === undefined ? 'tokenEndpoint' : 'issuer'
}

/** Returns how the options are read that say where a server is: those that go together, and no others. */
export function describeUrl(
  given: Given,
  readUrl: ReadUrl,
  mayDiscover: boolean,
): Partial<Description<UrlOptions>> {
  const url: Reader<URL> = (value, option) => readUrl(value, option, given['allowInsecureLoopback'] === true)
  const urlOption = urlOptionOf(given)
  if (urlOption === 'authUrl')
    return {
      authUrl: (value, option) => below(url(value, option), option, given['tokenPath']),
      tokenPath: readTokenPath,
    }
  if (urlOption === 'tokenEndpoint') return { tokenEndpoint: url, issuer: optional(url) }
  return {
    tokenEndpoint: optional((_, option) => refuse(option, 'given together with `issuer`', 'one of the two')),
    issuer: mayDiscover ? url : refuseIssuer,
  }
}

const refuseIssuer: Reader<never> = (_, path) =>
  refuse(path, 'an option only `oauthIssuer` supports', 'oauthIssuer({ issuer, ... }), or `tokenEndpoint`')

const readTokenPath: Reader<string> = (value, path) => {
  const allowed = 'a path that begins with /, such as /oauth/token'
  const tokenPath = text(allowed)(value, path)
  return tokenPath.startsWith('/') ? tokenPath : refuse(path, 'a path without a leading /', allowed)
}

/** Appends the token path to the URL before it, in which no part of it may stand already. */
function below(url: URL, option: string, tokenPath: unknown): URL {
  // a wrong path has an error of its own
  const path = typeof tokenPath === 'string' && tokenPath.startsWith('/') ? tokenPath : '/'
  const base = withoutLastSlash(url.pathname)
  for (let end = path.length; end > 1; end = path.lastIndexOf('/', end - 1))
    if (base.endsWith(path.slice(0, end)))
      refuse(
        option,
        'a URL that already has the token path or part of it',
        `the part before ${path}, which is appended`,
      )
  const endpoint = new URL(url)
  endpoint.pathname = base + path
  return endpoint
}

/**
 * Returns the most likely mistake where no token endpoint is at that path, to end a sentence: each issuer of the service
 * has a server and a path of its own. Empty where none is likely.
 */
export function mistakeOf(tokenPath: string | undefined): string {
  if (tokenPath === generalPath) return `; is it the weblink issuer's, whose path is ${weblinkPath}?`
  if (tokenPath === weblinkPath) return `; is it the general issuer's, whose path is ${generalPath}?`
  return ''
}
