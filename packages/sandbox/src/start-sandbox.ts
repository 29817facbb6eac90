import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

import { createControl } from './control/control.ts'
import type { SandboxControl } from './control/sandbox-control.ts'
import { environmentOf, type ControlPlace } from './environment.ts'
import type { ClientCredentials, KeyCredentials } from './issuer/client-registration.ts'
import { Journal } from './journal/journal.ts'
import { Judge } from './verdict/verdict.ts'
import { perRealm, type Realm } from './realm.ts'
import { checkOptions, type SandboxOptions } from './sandbox-options.ts'
import { trustedBefore, trustInThisProcess } from './server/certificates.ts'
import { now, startService } from './service.ts'

/** The whole service on this machine: two issuers and two APIs, each on an HTTPS origin of its own. */
export interface Sandbox extends AsyncDisposable {
  /** Origin of the general issuer, without a trailing slash, for example `https://127.0.0.1:41234`. */
  readonly authUrl: string
  /** Origin of the weblink issuer, without a trailing slash. */
  readonly weblinkAuthUrl: string
  /** Base URL of the general API; ends in `/`. */
  readonly apiUrl: string
  /** Base URL of the weblink API; ends in `/api/`. */
  readonly weblinkUrl: string
  /**
   * Certificate (PEM) of the CA that signed the certificates of all four servers. It is created for this sandbox only.
   */
  readonly ca: string
  /** Client credentials of the two registered applications, always with the newest secrets. */
  readonly credentials: Record<Realm, ClientCredentials>
  /** The keys of the same applications, always the newest, for an issuer with `private_key_jwt`. */
  readonly keyCredentials: Record<Realm, KeyCredentials>
  readonly control: SandboxControl
  /** Origin of HTTP control, without a trailing slash; `undefined` unless the option `control` is set. */
  readonly controlUrl: string | undefined
  /** Bearer token that HTTP control requires; `undefined` unless the option `control` is set. */
  readonly controlToken: string | undefined
  /** URL of the console page. The token is in its fragment, which browsers do not send to servers. */
  readonly consoleUrl: string | undefined
  /** Closes all servers and cuts open connections at once. Safe to call again. */
  close(): Promise<void>
}

/**
 * Starts the service, on free ports of 127.0.0.1 by default, and returns it once it accepts requests.
 *
 * @throws TypeError if an option is wrong, naming it, what is allowed and what was given.
 * @example
 * ```ts
 * const sandbox = await startSandbox({ records: 250 })
 * sandbox.control.expireTokens('weblink')
 * ```
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const checked = checkOptions(options)
  const { port, place, controlToken = randomToken() } = checked
  // the child that gets this path may run in another folder
  const caFile = checked.caFile === undefined ? undefined : resolve(checked.caFile)
  const journal = new Journal(checked.journalSize)
  const judge = new Judge((id) => journal.keep(id))
  const service = await startService(checked, { journal, judge })
  const { urls, ca, issuers, apis } = service
  const closing: (() => unknown)[] = [() => service.close()]

  let closed: Promise<unknown> | undefined
  const close = async (): Promise<void> => {
    if (closed === undefined && caFile !== undefined) rmSync(caFile, { force: true })
    closed ??= Promise.all(closing.map((end) => end()))
    await closed
  }
  try {
    let controlPlace: ControlPlace | undefined
    const environment = () => environmentOf(urls, issuers, caFile, controlPlace)
    const control = createControl({ issuers, apis, journal, judge, environment, now })
    if (caFile !== undefined) {
      writeCa(caFile, ca + trustedBefore())
      closing.push(trustInThisProcess(ca))
    }
    // loaded only if it is wanted: most tests do not need it
    const serving = checked.control ? await import('./control/http-control.ts') : undefined
    const http = await serving?.startHttpControl({
      control,
      listen: (listener) => journal.listen(listener),
      token: controlToken,
      ca,
      place,
      port,
    })
    if (http !== undefined) {
      closing.push(() => http.close())
      controlPlace = { origin: http.origin, token: controlToken }
    }

    return {
      ...urls,
      ca,
      get credentials() {
        return perRealm((realm) => issuers[realm].registration.credentials())
      },
      get keyCredentials() {
        return perRealm((realm) => issuers[realm].registration.keyCredentials())
      },
      control,
      controlUrl: http?.origin,
      controlToken: http && controlToken,
      consoleUrl: http && `${http.origin}/#token=${controlToken}`,
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function writeCa(file: string, pem: string): void {
  try {
    writeFileSync(file, pem)
  } catch (error) {
    throw new TypeError(`"caFile" cannot be written: ${(error as Error).message}`, { cause: error })
  }
}

const randomToken = (): string => randomBytes(24).toString('base64url')
