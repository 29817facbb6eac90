import type { TokenlaneEvent } from '@tokenlane/core'

import { mustBeAbsolute } from '../exit-status.ts'
import type { Application, RefusedApplication, Source } from '../application/application.ts'
import { handedOver } from '../own-process.ts'
import { withApplication } from '../application/with-application.ts'
import { check } from '../checks/checks.ts'
import { lookAtResources } from '../facts/audience.ts'
import { lookForAxios } from '../facts/axios.ts'
import { lookAtCall } from '../facts/call.ts'
import { lookAtExtraAuthorities } from '../facts/extra-authorities.ts'
import type { Facts } from '../facts/facts.ts'
import { lookAtPackages } from '../facts/packages.ts'
import { lookAtServers } from '../facts/servers.ts'
import { lookAtShared } from '../facts/shared.ts'
import { lookAtTlsSettings } from '../facts/tls-settings.ts'
import { failureIn, lookAtIssuer } from '../facts/token.ts'
import type { Finding } from '../checks/finding.ts'
import { lookedAt, type Looked } from './looked-at.ts'

/** What `tokenlane doctor --json` prints. */
export interface Diagnosis {
  /** Whether there are neither errors nor warnings. */
  readonly ok: boolean
  /** Errors first, then warnings, then notes. */
  readonly findings: readonly Finding[]
  readonly looked: readonly Looked[]
}

export interface DoctorOptions extends Source {
  readonly url?: string
  readonly secretDays?: number
}

const order = ['error', 'warning', 'info']

/**
 * Looks at everything that a call needs and returns the findings, errors first. Each issuer gets at most one token
 * request for each credential.
 *
 * @throws CannotLook if the application is not found or cannot be loaded.
 * @throws WrongUsage if `url` is not an absolute HTTP or HTTPS URL.
 */
export async function diagnose(options: DoctorOptions): Promise<Diagnosis> {
  if (options.url !== undefined) mustBeAbsolute(options.url)
  return withApplication(options, async (application) => diagnosisOf(application, options))
}

async function diagnosisOf(
  application: Application | RefusedApplication,
  { url, secretDays, authUrl, weblinkAuthUrl }: DoctorOptions,
): Promise<Diagnosis> {
  const { from, file, names } = application
  // an issuer that is named by a flag may be all that is asked about
  const isAboutIssuer = url === undefined && (authUrl ?? weblinkAuthUrl) !== undefined
  const missingApis = isAboutIssuer ? [] : application.missingApis
  const packages = lookAtPackages(file)
  const seen = 'refused' in application ? ofRefused(application) : await lookAt(application, packages, url)
  const extraAuthorities = lookAtExtraAuthorities()
  const envFile = handedOver?.envFile
  const own = { now: new Date(), missingApis, packages, secretDays, extraAuthorities, envFile }
  const facts: Facts = { ...nothing, ...seen, ...own }
  const findings = check(facts)
    .map((found) => withNames(found, names))
    .toSorted((one, other) => order.indexOf(one.severity) - order.indexOf(other.severity))
  const ok = findings.every(({ severity }) => severity === 'info')
  return {
    ok,
    findings,
    looked: [
      { what: 'options', subject: from, text: `options: ${from}` },
      ...lookedAt(facts, url !== undefined),
    ],
  }
}

/** What can be done about an option in code, and not by variables and flags. */
const onlyInCode = /, or (?:[^`]*, )?set `allowInsecure[^`]+` on its issuer/

/** Returns a finding that names the variable or flag of an option beside its path. */
function withNames(found: Finding, names: ReadonlyMap<string, string>): Finding {
  const named = (text: string): string =>
    text.replaceAll(/`([^`]+)`/g, (path, option: string) => {
      const name = names.get(option)
      return name === undefined ? path : `${name} (${path})`
    })
  const fix = names.size === 0 ? found.fix : found.fix.replace(onlyInCode, '')
  return { ...found, seen: named(found.seen), fix: named(fix) }
}

type Seen = Omit<Facts, 'now' | 'missingApis' | 'packages' | 'secretDays' | 'extraAuthorities' | 'envFile'>

const nothing: Seen = {
  refused: [],
  configuration: { issuers: [], apis: [], ownFetch: false, store: false, limiter: false },
  status: { issuers: {}, apis: [] },
  events: [],
  servers: [],
  tokens: [],
  call: undefined,
  resources: [],
  shared: [],
  tls: [],
  axios: undefined,
}

/** An application that obtains its tokens while it loads fails by its issuers, not by its options. */
function ofRefused({ refused, redis }: RefusedApplication): Pick<Seen, 'refused' | 'tokens' | 'shared'> {
  return {
    shared: redis
      ? [
          {
            part: 'token store',
            failedAt: 'connecting',
            failure: redis.connection.outcome,
            connection: redis.connection,
            endsModule: true,
          },
        ]
      : [],
    refused: refused.filter(({ issuer }) => issuer === undefined),
    tokens: refused.flatMap((error) =>
      error.issuer === undefined ? [] : [{ issuer: error.issuer, failure: failureIn(error), duration: 0 }],
    ),
  }
}

async function lookAt(
  application: Application,
  packages: Facts['packages'],
  url: string | undefined,
): Promise<Omit<Seen, 'refused'>> {
  const { tokens, configuration, inspection, exports } = application
  const events: TokenlaneEvent[] = []
  const off = tokens.observe((event) => events.push(event))
  try {
    const [servers, tokenFacts] = await Promise.all([
      lookAtServers(application),
      Promise.all(configuration.issuers.map((issuer) => lookAtIssuer(tokens, issuer, inspection))),
    ])
    // not meanwhile: a busy process would take its own delays for those of Redis
    const shared = await lookAtShared(application)
    const call = url === undefined ? undefined : await callUnlessPointless(url)
    const resources = await lookAtResources(application, tokenFacts, call)
    const status = tokens.status()
    return {
      configuration,
      status,
      events,
      servers,
      tokens: tokenFacts,
      call,
      resources,
      shared,
      tls: lookAtTlsSettings(exports),
      axios: lookForAxios(exports, packages),
    }

    async function callUnlessPointless(given: string): Promise<Facts['call']> {
      const issuer = tokens.route(given)?.issuer
      // the call would request a token again from an issuer that has just failed
      const failed = tokenFacts.some((token) => token.issuer === issuer && token.lifetime === undefined)
      // a token that another process obtained may have been revoked since
      const isOld = events.some((event) => event.type === 'token.received' && event.issuer === issuer)
      return failed ? undefined : lookAtCall(tokens, given, isOld)
    }
  } finally {
    off()
  }
}
