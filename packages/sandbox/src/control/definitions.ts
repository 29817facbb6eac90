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
  summary: string
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
const assertionOptions: Allowed<AssertionOptions> = object<AssertionOptions>({
  audience: optional(text),
  lifetime: optional(aYearEitherWay),
})

export const definitions: Definitions = {
  counts: {
    summary: 'Returns counts of the requests that reached the issuers and the APIs, by outcome.',
    reads: true,
    parameters: [],
  },
  resetCounts: {
    summary: "Sets every count to zero. Calls in a rate policy's windows still count towards the policy.",
    parameters: [],
  },
  state: {
    summary: 'Returns the sandbox as it is now: live tokens, windows of the rate policies, faults, counts.',
    reads: true,
    parameters: [],
  },
  journal: {
    summary:
      'Returns the requests that reached an issuer or an API, in order, with what was decided and why.',
    reads: true,
    parameters: [{ name: 'filter', schema: optional(journalFilter), spread: true }],
  },
  verdict: {
    summary: 'Returns what the client has done wrong so far, with evidence from the journal and the fix.',
    reads: true,
    parameters: [],
  },
  clearJournal: {
    summary: 'Clears the journal, and what the verdict has found so far.',
    parameters: [],
  },
  environment: {
    summary:
      'Returns the environment variables that point a program at this sandbox, client secrets included.',
    reads: true,
    parameters: [],
  },
  expireTokens: { summary: 'Expires all tokens issued so far.', parameters: [anyIssuer] },
  revokeTokens: { summary: 'Revokes all tokens issued so far.', parameters: [anyIssuer] },
  setTokenLifetime: {
    summary: 'Sets the lifetime of the tokens issued from now on, in milliseconds.',
    parameters: [{ name: 'lifetime', schema: lifetime }, anyIssuer],
  },
  rotateSecret: {
    summary:
      'Makes a new client secret and returns the credentials with it. The old one is refused from now on, unless `overlap` keeps it valid until `dropOldSecrets`.',
    parameters: [issuer, overlap],
  },
  dropOldSecrets: { summary: 'Refuses every client secret except the newest one.', parameters: [issuer] },
  dropSecrets: {
    summary:
      'Refuses every client secret from now on: the client can only authenticate with an assertion from the cluster.',
    parameters: [issuer],
  },
  makeAssertion: {
    summary: 'Returns an assertion from the cluster. The issuer needs `workloadIdentity`.',
    needsCluster: true,
    parameters: [issuer, { name: 'options', schema: optional(assertionOptions), spread: true }],
  },
  projectAssertion: {
    summary:
      "Writes an assertion from the cluster to a file, replaces it after four fifths of its lifetime, as Kubernetes does, and returns the file's path. The issuer needs `workloadIdentity`.",
    needsCluster: true,
    parameters: [issuer, { name: 'options', schema: optional(assertionOptions), spread: true }],
  },
  rotateClusterKeys: {
    summary:
      'Gives the cluster a new key, and rewrites the assertion files. Assertions signed with the old one are refused from now on, unless `overlap` keeps it valid. The issuer needs `workloadIdentity`.',
    needsCluster: true,
    parameters: [issuer, overlap],
  },
  slowIssuer: {
    summary:
      'Delays every token request by this many milliseconds, in addition to any other fault; 0 ends the delay.',
    parameters: [issuer, { name: 'ms', schema: latency }],
  },
  failIssuer: {
    summary: 'Responds to token requests with a failure. Replaces an earlier failure or kill.',
    parameters: [issuer, { name: 'failure', schema: issuerFailure, spread: true }],
  },
  killIssuer: {
    summary: 'Cuts the connection of token requests. Replaces an earlier failure or kill.',
    parameters: [issuer, { name: 'span', schema: optional(cut), spread: true }],
  },
  setIssuerClock: {
    summary: "Sets an issuer's clock forward by this many milliseconds, or back if negative.",
    parameters: [issuer, offset],
  },
  restoreIssuer: {
    summary: 'Ends delays, failures and kills, and corrects the clock.',
    parameters: [anyIssuer],
  },
  slowApi: {
    summary: 'Delays every response from an API by this many milliseconds; 0 ends the delay.',
    parameters: [api, { name: 'ms', schema: latency }],
  },
  failApi: {
    summary: 'Responds to calls with a failure, whatever their token. Replaces an earlier failure or kill.',
    parameters: [api, { name: 'failure', schema: apiFailure, spread: true }],
  },
  killApi: {
    summary: 'Cuts the connection of calls. Replaces an earlier failure or kill.',
    parameters: [api, { name: 'span', schema: optional(cut), spread: true }],
  },
  setApiClock: {
    summary: "Sets an API's clock forward by this many milliseconds, or back if negative.",
    parameters: [api, offset],
  },
  setRatePolicy: {
    summary: 'Sets the rate policy that an API enforces from now on, counting from zero; `null` removes it.',
    parameters: [api, { name: 'policy', schema: v.nullable(ratePolicy) }],
  },
  restoreApi: { summary: 'Ends delays, failures and kills, and corrects the clock.', parameters: [anyApi] },
  playScenario: {
    summary: 'Runs control functions at the times that the scenario gives. Replaces an earlier scenario.',
    parameters: [{ name: 'scenario', schema: scenario, spread: true }],
  },
  stopScenario: { summary: 'Ends a scenario. Its changes remain.', parameters: [] },
}
