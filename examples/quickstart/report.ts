import { styleText } from 'node:util'

import type { SandboxCounts, Verdict } from '@tokenlane/sandbox'

import type { Clients } from './bootstrap.ts'
import { needlessRequests } from './explain.ts'
import type { History } from './history.ts'
import type { Reading } from './reader.ts'
import type { Sent } from './wire.ts'

/** The calls of one client to one API, seen from the application and from the wire. */
export interface Lane {
  api: 'general' | 'weblink'
  client: keyof Clients
  reading: Reading
  sent: Sent
}

/** Everything that a run left behind. */
export interface Outcome {
  lanes: Lane[]
  histories: Record<'general' | 'weblink', History>
  /** Lifetime of the tokens, in milliseconds. */
  lifetime: number
  /** How many calls each window of each API may see. */
  quotas: Record<'general' | 'weblink', readonly number[]>
  /** What the service itself counted. */
  counts: SandboxCounts
  /** What the sandbox found wrong with its clients. */
  verdict: Verdict
}

const realms = ['general', 'weblink'] as const

/** What went wrong, one text each; empty if no call was lost and no token was requested needlessly. */
export function faults({ lanes, histories, lifetime, counts, verdict }: Outcome): string[] {
  const found: string[] = []
  for (const { api, client, reading, sent } of lanes) {
    const { calls, answered, lost } = reading
    const lane = `${api} API, ${client}`
    if (calls === 0) found.push(`${lane}: no call was made`)
    if (answered !== calls)
      found.push(`${lane}: ${calls - answered} of ${calls} calls lost (${lost[0] ?? 'never answered'})`)
    else if (sent.sends !== calls + sent.rejected)
      found.push(`${lane}: ${calls} calls and ${sent.rejected} retries were sent as ${sent.sends}`)
  }
  for (const realm of realms) {
    const { calls, rejected, limited } = counts.apis[realm]
    const own = sum(lanes.filter(({ api }) => api === realm))
    if (own.sends !== calls || own.rejected !== rejected)
      found.push(
        `${realm} API: ${own.sends} sends and ${own.rejected} 401s here, ${calls} and ${rejected} at the API`,
      )
    if (limited > 0) found.push(`${realm} API: ${limited} calls came too fast and were answered 429`)
    for (const reason of needlessRequests(histories[realm], counts.issuers[realm], lifetime))
      found.push(`${realm} issuer: ${reason}`)
  }
  for (const { rule, message } of verdict.findings) found.push(`sandbox: ${message} (${rule})`)
  return found
}

/** The run as tables and a verdict, for people to read. */
export function report(outcome: Outcome): string {
  const { lanes, histories, quotas, counts } = outcome
  const calls = table([
    ['API', 'client', 'calls', 'sent', 'again after a 401', 'answered', 'records', 'lost'],
    ...lanes.map(({ api, client, reading, sent }) => [
      api,
      client,
      reading.calls,
      sent.sends,
      sent.rejected,
      reading.answered,
      reading.records,
      reading.calls - reading.answered,
    ]),
  ])
  const atApis = table([
    ['at the API', 'arrived', 'answered', '401s', '429s', 'most calls in a window, of allowed'],
    ...realms.map((realm) => {
      const api = counts.apis[realm]
      const windows = api.maxInWindow.map((most, index) => `${most} of ${quotas[realm][index]}`)
      return [realm, api.calls, api.answered, api.rejected, api.limited, windows.join(' and ')]
    }),
  ])
  const requests = table([
    ['issuer', 'tokens', 'first', 'before expiry', 'after expiry', 'after a 401', 'failed'],
    ...realms.map((realm) => {
      const { renewals, failures } = histories[realm]
      const because = (reason: string): number => renewals.filter((one) => one.reason === reason).length
      return [
        realm,
        renewals.length,
        because('startup'),
        because('ahead'),
        because('expired'),
        because('rejected'),
        failures,
      ]
    }),
  ])
  const atIssuers = table([
    ['at the issuer', 'requests', 'issued', 'failed', 'refused'],
    ...realms.map((realm) => {
      const issuer = counts.issuers[realm]
      return [realm, issuer.requests, issuer.issued, issuer.failed, issuer.refused]
    }),
  ])
  return [calls, atApis, requests, atIssuers, conclusion(faults(outcome))].join('\n\n')
}

function conclusion(found: string[]): string {
  if (found.length === 0)
    return styleText('green', 'OK: no call was lost, none came too fast, and every token request was needed.')
  return [styleText('red', 'FAILED:'), ...found.map((fault) => `- ${fault}`)].join('\n')
}

function sum(lanes: Lane[]): Sent {
  const total = { sends: 0, rejected: 0 }
  for (const { sent } of lanes) {
    total.sends += sent.sends
    total.rejected += sent.rejected
  }
  return total
}

/** Lays out rows of cells in columns: text to the left, numbers to the right. The first row is the heading. */
function table(rows: (string | number)[][]): string {
  const shown = rows.map((row) => row.map((cell) => cell.toLocaleString('en-US')))
  const widths = shown[0]!.map((_, column) => Math.max(...shown.map((row) => row[column]!.length)))
  const isNumeric = (column: number): boolean => typeof rows[1]?.[column] === 'number'
  const line = (row: string[]): string =>
    row
      .map((cell, column) =>
        isNumeric(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd()
  return shown.map(line).join('\n')
}
