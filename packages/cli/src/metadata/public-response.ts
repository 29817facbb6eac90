import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'

import { CannotLook, WrongUsage } from '../exit-status.ts'
import { failureCode } from '../failure-code.ts'

export interface PublicResponse {
  readonly status: number
  readonly wwwAuthenticate: string
  /** Where it redirects to. Redirects are not followed. */
  readonly location: string | undefined
  readonly body: string
}

/** How long a server may take, in milliseconds. */
const longest = 10_000
/** How much of a body is read, in bytes. Metadata takes a few thousand. */
const largest = 65_536

/**
 * Sends one GET request without credentials: by TLS 1.2 or newer, with a certificate that Node accepts. Follows no
 * redirect.
 *
 * @throws CannotLook if there is no response in 10 s, or if the body is larger than 64 KiB.
 */
export async function getPublic(url: URL, { body }: { readonly body: boolean }): Promise<PublicResponse> {
  const signal = AbortSignal.timeout(longest)
  const options = { signal, headers: { accept: 'application/json', 'user-agent': 'tokenlane' } }
  const request =
    url.protocol === 'https:'
      ? httpsRequest(url, { ...options, minVersion: 'TLSv1.2', rejectUnauthorized: true })
      : httpRequest(url, options)
  try {
    request.end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const { statusCode: status = 0, headers } = response
    return {
      status,
      wwwAuthenticate: headers['www-authenticate'] ?? '',
      location: headers.location,
      body: body && status === 200 ? await textOf(response, url) : '',
    }
  } catch (error) {
    if (error instanceof CannotLook) throw error
    const code = signal.aborted ? 'no response in 10 s' : failureCode(error)
    throw new CannotLook(`Cannot reach ${url.origin}: ${code}`)
  } finally {
    request.on('error', () => {}).destroy()
  }
}

async function textOf(response: IncomingMessage, { origin, pathname }: URL): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length
    if (size > largest) throw new CannotLook(`${origin}${pathname} is larger than 64 KiB, and was not read`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Returns the fields of a JSON object; `undefined` if the text is not one. */
export function fieldsIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Returns the texts of a list in metadata, of at most 20; empty if it is not a list. */
export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string').slice(0, 20) : []
}

/** Returns a URL that may be asked: `https:`, or `http:` on this machine, without user name, password and fragment. */
export function askableUrl(text: string): URL | undefined {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return undefined
  return url.protocol === 'https:' || isOnThisMachine(url) ? url : undefined
}

/** Returns the URL of a server that an API names;  `undefined` if secrets would travel to it less safely than to the API. */
export function serverFor(api: URL, named: string): URL | undefined {
  const url = askableUrl(named)
  return url !== undefined && (url.protocol === 'https:' || isOnThisMachine(api)) ? url : undefined
}

/** Returns a URL that the person typed. @throws WrongUsage if it may not be asked. */
export function typedUrl(text: string, what: string): URL {
  if (!/^https?:\/\//i.test(text)) throw new WrongUsage(`${what} must begin with https://`)
  const url = askableUrl(text)
  if (url === undefined)
    throw new WrongUsage(
      `${what} must be an https: URL without a user name, password or fragment, such as https://api.example.com/ (http: is allowed only on this machine)`,
    )
  return url
}

export function isOnThisMachine({ protocol, hostname }: URL): boolean {
  return (
    protocol === 'http:' &&
    (/^127(?:\.\d{1,3}){3}$/.test(hostname) || ['localhost', '[::1]'].includes(hostname))
  )
}
