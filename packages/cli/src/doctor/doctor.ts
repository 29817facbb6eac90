import type { TokenlaneEvent } from '@tokenlane/core'

import type { Application, Source } from '../application/application.ts'
import { loadApplication } from '../application/load-application.ts'
import { checkCall } from '../checks/call.ts'
import { checkCertificates } from '../checks/certificate.ts'
import { checkClock } from '../checks/clock.ts'
import { checkConnections } from '../checks/connection.ts'
import { checkEnvironments } from '../checks/environments.ts'
import { checkLifetimes } from '../checks/lifetime.ts'
import { checkOptions } from '../checks/options.ts'
import { checkPackages } from '../checks/packages.ts'
import { checkProcess } from '../checks/process.ts'
import { checkRates } from '../checks/rate.ts'
import { checkSecrets } from '../checks/secret.ts'
import { checkShared } from '../checks/shared.ts'
import { checkTokens } from '../checks/token.ts'
import { lookAtCall } from '../facts/call.ts'
import type { Facts } from '../facts/facts.ts'
import { lookAtPackages } from '../facts/packages.ts'
import { lookAtServer, type ServerFacts } from '../facts/server.ts'
import { lookAtToken } from '../facts/token.ts'
import type { Finding } from './finding.ts'

const checks: readonly ((facts: Facts) => Finding[])[] = [
  checkOptions,
  checkProcess,
  checkConnections,
  checkCertificates,
  checkTokens,
  checkCall,
  checkClock,
  checkEnvironments,
  checkSecrets,
  checkLifetimes,
  checkRates,
  checkShared,
  checkPackages,
]

/** What `tokenlane doctor --json` prints. */
export interface Diagnosis {
  /** Whether there are neither errors nor warnings. */
  readonly ok: boolean
  /** Errors first. */
  readonly findings: readonly Finding[]
  /** What was looked at, one line each. */
  readonly looked: readonly string[]
}

export interface DoctorOptions extends Source {
  /** A URL of an API, for one call with a token. */
  readonly url?: string
  /** Days that every secret must have left. */
  readonly secretDays?: number
}

const order = ['error', 'warning', 'info']

/**
 * Looks at everything that a call needs, and returns what is wrong, the worst first. Each issuer gets at most one token
 * request for each credential.
 *
 * @throws CannotLook if there is no application.
 */
export async function diagnose(options: DoctorOptions): Promise<Diagnosis> {
  const application = await loadApplication(options)
  const { from, file } = application
  const packages = lookAtPackages(file)
  const base = {
    now: new Date(),
    env: process.env,
    packages,
    secretDays: options.secretDays,
    refused: 'refused' in application ? application.refused : [],
  }
  const seen = 'refused' in application ? notSeen : await lookAt(application, options.url)
  const facts: Facts = { ...base, ...seen }
  const findings = checks
    .flatMap((check) => check(facts))
    .toSorted((one, other) => order.indexOf(one.severity) - order.indexOf(other.severity))
  const ok = findings.every(({ severity }) => severity === 'info')
  return { ok, findings, looked: [`options: ${from}`, ...lookedAt(facts)] }
}

type Seen = Omit<Facts, 'now' | 'env' | 'packages' | 'secretDays' | 'refused'>

const notSeen: Seen = {
  configuration: undefined,
  status: undefined,
  events: [],
  servers: [],
  tokens: [],
  call: undefined,
}

async function lookAt({ tokens, configuration }: Application, url: string | undefined): Promise<Seen> {
  const events: TokenlaneEvent[] = []
  const off = tokens.observe((event) => events.push(event))
  try {
    const [servers, tokenFacts] = await Promise.all([
      lookAtServers(configuration),
      Promise.all(configuration.issuers.map(({ name }) => lookAtToken(tokens, name))),
    ])
    const call = url === undefined ? undefined : await callUnlessPointless(url)
    return { configuration, status: tokens.status(), events, servers, tokens: tokenFacts, call }

    async function callUnlessPointless(given: string): Promise<Facts['call']> {
      const issuer = tokens.route(given)?.issuer
      // no second request to an issuer that gave no token
      const failed = tokenFacts.some((token) => token.issuer === issuer && token.lifetime === undefined)
      return failed ? undefined : lookAtCall(tokens, given)
    }
  } finally {
    off()
    await tokens.close()
  }
}

async function lookAtServers({ issuers, apis }: Application['configuration']): Promise<ServerFacts[]> {
  const roles = new Map<string, string[]>()
  const add = (url: string, role: string): void => {
    const { origin } = new URL(url)
    roles.set(origin, [...(roles.get(origin) ?? []), role])
  }
  for (const { name, url } of issuers) add(url, `issuer ${name}`)
  const issuing = new Set(roles.keys())
  for (const { baseUrl } of apis) add(baseUrl, `API ${baseUrl}`)
  return Promise.all(Array.from(roles, ([origin, names]) => lookAtServer(origin, names, issuing.has(origin))))
}

function lookedAt({ servers, tokens, call, packages }: Facts): string[] {
  return [
    ...servers.map(({ origin, roles, protocol, failure }) => {
      const how = failure ?? protocol ?? 'no TLS'
      return `${origin} (${roles.join(', ')}): ${how}`
    }),
    ...tokens.map(({ issuer, lifetime, duration }) => {
      const what = lifetime === undefined ? 'none' : `lives for ${Math.round(lifetime / 1_000)} s`
      return `token of ${issuer}: ${what}, after ${Math.round(duration)} ms`
    }),
    ...(call ? [`call ${call.url}: ${call.status ?? 'no response'}`] : []),
    `Node ${process.versions.node}`,
    ...packages.map(({ name, version }) => `${name} ${version}`),
  ]
}
