import * as v from 'valibot'

import { object, oneOf, optional, text, time, trueOrFalse, type Allowed } from '../allowed.ts'
import { ratePolicy } from '../api/strict-rate.ts'
import { apiFailure, cut, issuerFailure } from '../faults/fault.ts'
import { latency } from '../faults/latency.ts'
import type { AssertionOptions } from '../issuer/cluster.ts'
import { journalFilter } from '../journal/journal.ts'
import { realms, type Realm } from '../realm.ts'
import { scenario } from './scenario.ts'
import { lifetime } from '../sandbox-options.ts'
import type { SandboxControl } from './sandbox-control.ts'

export interface Parameter<Value> {
  name: string
  schema: Allowed<Value>
  /** Whether its fields may stand beside the other parameters in JSON, for example `{"issuer":"general","status":503}`. */
  spread?: true
}

/** A control function as data: TypeScript, HTTP, validation and OpenAPI all come from this. */
export interface Definition<Parameters extends readonly unknown[]> {
  /** Whether the function only reads; then it is a GET over HTTP. */
  reads?: true
  /** Whether the issuer, the first argument, must have a cluster. */
  needsCluster?: true
  parameters: { readonly [Index in keyof Parameters]-?: Parameter<Parameters[Index]> }
}

export type ControlName = keyof SandboxControl

type Definitions = { readonly [Name in ControlName]: Definition<Parameters<SandboxControl[Name]>> }

const realm: Allowed<Realm> = oneOf(realms)
const issuer = { name: 'issuer', schema: realm }
const anyIssuer = { name: 'issuer', schema: optional(realm) }
const api = { name: 'api', schema: realm }
const anyApi = { name: 'api', schema: optional(realm) }
const aYearEitherWay = time({ min: -31_536_000_000, max: 31_536_000_000 })
const offset = { name: 'offset', schema: aYearEitherWay }

const overlap = {
  name: 'options',
  schema: optional(object<{ overlap?: boolean }>({ overlap: optional(trueOrFalse) })),
  spread: true,
} as const
const assertion = {
  name: 'options',
  schema: optional(
    object<AssertionOptions>({ audience: optional(text), lifetime: optional(aYearEitherWay) }),
  ),
  spread: true,
} as const

export const definitions: Definitions = {
  counts: { reads: true, parameters: [] },
  resetCounts: { parameters: [] },
  state: { reads: true, parameters: [] },
  journal: { reads: true, parameters: [{ name: 'filter', schema: optional(journalFilter), spread: true }] },
  verdict: { reads: true, parameters: [] },
  clearJournal: { parameters: [] },
  environment: { reads: true, parameters: [] },
  expireTokens: { parameters: [anyIssuer] },
  revokeTokens: { parameters: [anyIssuer] },
  setTokenLifetime: { parameters: [{ name: 'lifetime', schema: lifetime }, anyIssuer] },
  rotateSecret: { parameters: [issuer, overlap] },
  dropOldSecrets: { parameters: [issuer] },
  dropSecrets: { parameters: [issuer] },
  makeAssertion: { needsCluster: true, parameters: [issuer, assertion] },
  projectAssertion: { needsCluster: true, parameters: [issuer, assertion] },
  rotateClusterKeys: { needsCluster: true, parameters: [issuer, overlap] },
  slowIssuer: { parameters: [issuer, { name: 'ms', schema: latency }] },
  failIssuer: { parameters: [issuer, { name: 'failure', schema: issuerFailure, spread: true }] },
  killIssuer: { parameters: [issuer, { name: 'span', schema: optional(cut), spread: true }] },
  setIssuerClock: { parameters: [issuer, offset] },
  restoreIssuer: { parameters: [anyIssuer] },
  slowApi: { parameters: [api, { name: 'ms', schema: latency }] },
  failApi: { parameters: [api, { name: 'failure', schema: apiFailure, spread: true }] },
  killApi: { parameters: [api, { name: 'span', schema: optional(cut), spread: true }] },
  setApiClock: { parameters: [api, offset] },
  setRatePolicy: { parameters: [api, { name: 'policy', schema: v.nullable(ratePolicy) }] },
  restoreApi: { parameters: [anyApi] },
  playScenario: { parameters: [{ name: 'scenario', schema: scenario, spread: true }] },
  stopScenario: { parameters: [] },
}
