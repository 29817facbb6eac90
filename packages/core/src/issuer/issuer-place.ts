import { mustBeText, refuse } from '../options/check.ts'
import type { Environment } from '../options/environment.ts'
import { type Description, optional, type ReadAs, type Reader } from '../options/reader.ts'
import { withoutLastSlash } from '../options/secure-url.ts'
import { generalPath, type IssuerOptions, weblinkPath } from './issuer-options.ts'
import type { IssuerProtocol } from './issuer-protocol.ts'

/** Where an authorization server is, as its options say. */
export interface IssuerPlace {
  /** The token endpoint, or the issuer identifier of a server whose metadata names it. */
  readonly place: URL
  /** Returns the server, where metadata names its token endpoint. */
  readonly discover: IssuerProtocol['discover']
  /** The path of the option. */
  readonly option: string
  /** `undefined` but for an issuer of the service: only these are known by their paths. */
  readonly tokenPath: string | undefined
}

/** The options that say where a server is, as they are read: each has one place. */
export type PlaceOptions = ReadAs<
  Pick<IssuerOptions, 'authUrl' | 'tokenPath' | 'tokenEndpoint' | 'issuer'>,
  {
    authUrl: IssuerPlace | undefined
    tokenPath: string | undefined
    tokenEndpoint: IssuerPlace | undefined
    issuer: IssuerPlace | undefined
  }
>

/** Returns how the options are read that say where a server is: those that go together, and no others. */
export function describePlace(
  given: Readonly<Record<string, unknown>>,
  environment: Environment,
  insecure: boolean,
  protocol: IssuerProtocol,
): Partial<Description<PlaceOptions>> {
  if (!Object.hasOwn(given, 'tokenPath')) return describeServer(given, environment, insecure, protocol)
  return {
    authUrl: (value, option) => below(environment.url(value, option, insecure), option, given['tokenPath']),
    tokenPath: readTokenPath,
  }
}

/** Returns how the options of a server are read that is named by its token endpoint or by its issuer identifier. */
function describeServer(
  { tokenEndpoint, issuer }: Readonly<Record<string, unknown>>,
  environment: Environment,
  insecure: boolean,
  { discover }: IssuerProtocol,
): Partial<Description<PlaceOptions>> {
  const at =
    (found: IssuerProtocol['discover']): Reader<IssuerPlace> =>
    (value, option) => ({
      place: environment.url(value, option, insecure),
      discover: found,
      option,
      tokenPath: undefined,
    })
  if (issuer === undefined) return { tokenEndpoint: at(undefined), issuer: optional(at(discover)) }
  const alone: Reader<undefined> = (_, option) =>
    tokenEndpoint === undefined ? undefined : refuse(option, 'given together with `issuer`', 'one of the two')
  const published: Reader<IssuerPlace> = (value, option) =>
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
function below(url: URL, option: string, tokenPath: unknown): IssuerPlace {
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
  return { place: endpoint, discover: undefined, option, tokenPath: path }
}

/**
 * Returns the most likely mistake where no token endpoint is at that path, as a question: each issuer of the service has
 * a server and a path of its own. Empty where none is likely.
 */
export function mistakeOf(tokenPath: string | undefined): string {
  if (tokenPath === generalPath) return `is it that of the weblink issuer, whose path is ${weblinkPath}?`
  if (tokenPath === weblinkPath) return `is it that of the general issuer, whose path is ${generalPath}?`
  return ''
}
