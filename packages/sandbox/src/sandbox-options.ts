import { isIP } from 'node:net'

import * as v from 'valibot'

import { check, object, optional, text, time, trueOrFalse, wholeNumber, type Allowed } from './allowed.ts'
import { ratePolicy, type StrictRatePolicy } from './api/strict-rate.ts'
import { issuerSettings, type IssuerSettings } from './issuer/issuer-settings.ts'
import { delayRange, type DelayRange } from './faults/latency.ts'
import type { Realm } from './realm.ts'
import { placeOf, type Place } from './server/place.ts'

export interface SandboxOptions {
  /**
   * Lifetime of both issuers' tokens, in milliseconds; 1 to 31_536_000_000 (365 days). A fraction of a second is
   * sent as a fraction in `expires_in`.
   *
   * @defaultValue 3_600_000
   */
  tokenLifetime?: number
  /**
   * How many records each API has; 0 to 9_999_999.
   *
   * @defaultValue 5_000
   */
  records?: number
  /** How the issuers differ from the service's own, to test clients of other authorization servers. */
  issuers?: Partial<Record<Realm, IssuerSettings>>
  /** Rate policies that the APIs enforce. Default: none; an API without a policy accepts any rate. */
  ratePolicies?: Partial<Record<Realm, StrictRatePolicy>>
  /**
   * Simulates a slow and uneven network. Each call is held for a random time in this range before its API counts it,
   * and each response before it is sent. Token requests are not delayed. Default: no delay.
   */
  delays?: DelayRange
  /**
   * Makes random choices (delays, and faults with `percent`) the same in each run; 0 to 4_294_967_295.
   * Default: a new seed at each start.
   */
  seed?: number
  /**
   * Whether HTTP control is started, on an origin of its own: the control functions for programs in any language, and
   * the console page.
   *
   * @defaultValue false
   */
  control?: boolean
  /** The token that HTTP control requires; 16 characters or more. Default: a random one at each start. */
  controlToken?: string
  /**
   * First of five ports in a row: HTTP control, general issuer, weblink issuer, general API, weblink API. If one is in
   * use, a free port is used instead; 1 to 65_531. Default: free ports.
   */
  port?: number
  /**
   * The address on which all servers listen. Another one than 127.0.0.1, such as `0.0.0.0` in a container, lets other
   * machines in: HTTP control is plain HTTP.
   *
   * @defaultValue '127.0.0.1'
   */
  host?: string
  /**
   * The name or address by which clients reach the sandbox, in its URLs and in its certificate, such as the service's
   * name in docker compose. Default: `host`, or 127.0.0.1 if that is every address.
   */
  hostname?: string
  /**
   * File to which the sandbox's CA certificate is written (PEM), followed by those in this process's
   * NODE_EXTRA_CA_CERTS file; `close()` removes it. Until then this process trusts the CA, too, so that tests which run
   * in it reach the sandbox.
   */
  caFile?: string
  /**
   * How many requests the journal keeps, in addition to the evidence of the verdict; 1 to 1_000_000.
   *
   * @defaultValue 10_000
   */
  journalSize?: number
}

/** Options with every default filled in. */
export type CheckedOptions = Omit<SandboxOptions, 'host' | 'hostname' | Defaulted> &
  Required<Pick<SandboxOptions, Defaulted>> & { place: Place }

type Defaulted = 'tokenLifetime' | 'records' | 'ratePolicies' | 'issuers' | 'control' | 'journalSize'

/** How long a token may live, in milliseconds. */
export const lifetime: Allowed<number> = time({ min: 1, max: 31_536_000_000 })

const address = 'an IP address, such as 127.0.0.1 or 0.0.0.0'
const name = 'a host name or an IP address, such as sandbox'
const tokenText = 'a string of 16 characters or more that an Authorization header can carry'

const sandboxOptions: Allowed<SandboxOptions> = object<SandboxOptions>({
  tokenLifetime: optional(lifetime),
  records: optional(wholeNumber({ max: 9_999_999 })),
  ratePolicies: optional(
    object<Partial<Record<Realm, StrictRatePolicy>>>({
      general: optional(ratePolicy),
      weblink: optional(ratePolicy),
    }),
  ),
  issuers: optional(issuerSettings),
  delays: optional(delayRange),
  seed: optional(wholeNumber({ max: 2 ** 32 - 1 })),
  control: optional(trueOrFalse),
  controlToken: optional(v.pipe(v.string(tokenText), v.regex(/^[\w.~+/-]{16,}=*$/, tokenText))),
  port: optional(wholeNumber({ min: 1, max: 65_531 })),
  caFile: optional(text),
  host: optional(
    v.pipe(
      v.string(address),
      v.check((given) => isIP(given) > 0, address),
    ),
  ),
  hostname: optional(
    v.pipe(
      v.string(name),
      v.check((given) => isIP(given) > 0 || /^(?!-)[a-z\d-]+(?:\.[a-z\d-]+)*$/i.test(given), name),
    ),
  ),
  journalSize: optional(wholeNumber({ min: 1, max: 1_000_000 })),
})

/**
 * Returns the options with every default filled in.
 *
 * @throws WrongValueError naming each wrong option, what is allowed and what was given.
 */
export function checkOptions(given: SandboxOptions): CheckedOptions {
  const {
    tokenLifetime = 3_600_000,
    records = 5_000,
    ratePolicies = {},
    issuers = {},
    control = false,
    journalSize = 10_000,
    host,
    hostname,
    ...others
  } = check(sandboxOptions, given, 'options')
  const place = placeOf({ host, hostname })
  return { ...others, tokenLifetime, records, ratePolicies, issuers, control, journalSize, place }
}
