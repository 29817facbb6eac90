import { expect, test } from 'vitest'

import { createHistory } from './history.ts'
import { faults, report, type Outcome } from './report.ts'

const atApi = { answered: 3, limited: 0, failed: 0, maxConcurrent: 2, maxInWindow: [3, 4] }
const atIssuer = { requests: 1, issued: 1, failed: 0, refused: 0 }

/** A run of three calls to each API, one of which was sent twice. */
function outcome(): Outcome {
  const lane = (api: 'general' | 'weblink') => ({
    api,
    client: 'fetch' as const,
    reading: { calls: 3, answered: 3, records: 300, lost: [] as string[] },
    sent: { sends: 4, rejected: 1 },
  })
  const history = () => ({ ...createHistory(), renewals: [{ askedAt: 0, reason: 'startup' as const }] })
  return {
    lanes: [lane('general'), lane('weblink')],
    histories: { general: history(), weblink: history() },
    lifetime: 2_000,
    quotas: { general: [3, 180], weblink: [25, 500] },
    counts: {
      apis: {
        general: { calls: 4, rejected: 1, ...atApi },
        weblink: { calls: 4, rejected: 1, ...atApi },
      },
      issuers: { general: { ...atIssuer }, weblink: { ...atIssuer } },
    },
    verdict: { ok: true, findings: [] },
  }
}

test('a run without a lost call or a needless token request is OK', () => {
  expect(faults(outcome())).toEqual([])
  expect(report(outcome())).toMatch(/\ngeneral  fetch       3     4 +1 +3 +300 +0\n[^]*\nOK: [^\n]+$/)
})

test('the most calls in a window stand beside how many it may see', () => {
  expect(report(outcome())).toMatch(/\ngeneral [^\n]+ 3 of 3 and 4 of 180\n/)
})

test('a lost call fails the run', () => {
  const run = outcome()
  run.lanes[0]!.reading.answered = 2
  run.lanes[0]!.reading.lost.push('status 401')
  expect(faults(run)).toEqual(['general API, fetch: 1 of 3 calls lost (status 401)'])
  expect(report(run)).toMatch(/FAILED:\n- general API, fetch: 1 of 3 calls lost \(status 401\)$/)
})

test('a call without an end fails the run', () => {
  const run = outcome()
  run.lanes[1]!.reading.answered = 2
  expect(faults(run)).toEqual(['weblink API, fetch: 1 of 3 calls lost (never answered)'])
})

test('a needless token request fails the run', () => {
  const run = outcome()
  run.histories.weblink.renewals.push({ askedAt: 500, reason: 'rejected' })
  run.counts.issuers.weblink.issued = 2
  expect(faults(run)).toEqual([
    'weblink issuer: token 2 was requested (rejected) when the previous one was 500 ms old',
  ])
})

test('a call that was sent again without a 401 fails the run', () => {
  const run = outcome()
  run.lanes[0]!.sent.sends = 5
  run.counts.apis.general.calls = 5
  expect(faults(run)).toEqual(['general API, fetch: 3 calls and 1 retries were sent as 5'])
})

test('counts that differ from those of the service fail the run', () => {
  const run = outcome()
  run.counts.apis.general.calls = 9
  expect(faults(run)).toEqual(['general API: 4 sends and 1 401s here, 9 and 1 at the API'])
})

test('a call that came too fast fails the run', () => {
  const run = outcome()
  run.counts.apis.general.limited = 1
  expect(faults(run)).toEqual(['general API: 1 calls came too fast and were answered 429'])
})

test('what the sandbox finds wrong fails the run', () => {
  const run = outcome()
  const message = '2 token requests were sent while another one was under way'
  run.verdict.findings.push({
    rule: 'stampede',
    severity: 'error',
    message,
    fix: '',
    evidence: [1, 2],
    count: 2,
  })
  expect(faults(run)).toEqual([`sandbox: ${message} (stampede)`])
})
