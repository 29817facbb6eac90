import { mustBeText, refuse } from '../options/check.ts'
import type { Environment } from '../options/environment.ts'
import { type Description, optional, type ReadAs, type Reader } from '../options/reader.ts'
import { withoutLastSlash } from '../options/secure-url.ts'
import { generalPath, type IssuerOptions, weblinkPath } from './issuer-options.ts'
import type { IssuerProtocol } from './protocol.ts'
import type { EndpointOptions } from './token-endpoint.ts'

/** Where an authorization server is, as its options say. */
export interface IssuerUrl extends Pick<EndpointOptions, 'url' | 'discover' | 'option' | 'mistake'> {
  /** `undefined` but for an issuer of the service: only these are known by their paths. */
  readonly tokenPath: string | undefined
}

/** The options that say where a server is, as they are read: all but one of the URLs are `undefined`. */
export type UrlOptions = ReadAs<
  Pick<IssuerOptions, 'authUrl' | 'tokenPath' | 'tokenEndpoint' | 'issuer'>,
  {
    authUrl: IssuerUrl | undefined
    tokenPath: string | undefined
    tokenEndpoint: IssuerUrl | undefined
    issuer: IssuerUrl | undefined
  }
>

/** Returns how the options are read that say where a server is: those that go together, and no others. */
export function describeUrl(
  given: Readonly<Record<string, unknown>>,
  environment: Environment,
  insecure: boolean,
  { discover }: IssuerProtocol,
): Partial<Description<UrlOptions>> {
  const { tokenPath, tokenEndpoint, issuer } = given
  if (Object.hasOwn(given, 'tokenPath'))
    return {
      authUrl: (value, option) => below(environment.url(value, option, insecure), option, tokenPath),
      tokenPath: readTokenPath,
    }
  const at =
    (found: IssuerProtocol['discover']): Reader<IssuerUrl> =>
    (value, option) => ({
      url: environment.url(value, option, insecure),
      discover: found,
      option,
      mistake: '',
      tokenPath: undefined,
    })
  if (issuer === undefined) return { tokenEndpoint: at(undefined), issuer: optional(at(discover)) }
  const alone: Reader<undefined> = (_, option) =>
    tokenEndpoint === undefined ? undefined : refuse(option, 'given together with `issuer`', 'one of the two')
  const published: Reader<IssuerUrl> = (value, option) =>
    discover === undefined
      ? refuse(
          option,
          'an option that only `oauthIssuer` takes',
          'oauthIssuer({ issuer, ... }), or `tokenEndpoint`',
        )
      : at(discover)(value, option)
  return { tokenEndpoint: alone, issuer: published }
}

const readTokenPath: Reader<string> = (value, path) => {
  const tokenPath = mustBeText(value, path, 'a path, such as /oauth/token')
  return tokenPath.startsWith('/')
    ? tokenPath
    : refuse(path, 'a path without a leading /', 'a path that begins with /')
}

/** Appends the token path to the URL before it, in which no part of it may stand already. */
function below(url: URL, option: string, tokenPath: unknown): IssuerUrl {
  // a wrong path has an error of its own
  const path = typeof tokenPath === 'string' && tokenPath.startsWith('/') ? tokenPath : '/'
  const base = withoutLastSlash(url.pathname)
  for (let end = path.length; end > 1; end = path.lastIndexOf('/', end - 1))
    if (base.endsWith(path.slice(0, end)))
      refuse(
        option,
        'a URL that already carries the token path or a part of it',
        `the part before ${path}, which is appended`,
      )
  const endpoint = new URL(url)
  endpoint.pathname = base + path
  return { url: endpoint, discover: undefined, option, mistake: mistakeOf(path), tokenPath: path }
}

/**
 * Returns the most likely mistake where no token endpoint is at that path, as a question: each issuer of the service has
 * a server and a path of its own. Empty where none is likely.
 */
function mistakeOf(tokenPath: string): string {
  if (tokenPath === generalPath) return `is it that of the weblink issuer, whose path is ${weblinkPath}?`
  if (tokenPath === weblinkPath) return `is it that of the general issuer, whose path is ${generalPath}?`
  return ''
}
