import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/** How far the clock of a server may differ from this machine's, in milliseconds. */
export const clockTolerance = 60_000

/** Finds servers whose clock differs from this machine's by more than the tolerance. */
export function checkClock({ servers, configuration }: Facts): Finding[] {
  const withDate = servers.filter(({ clockOffset = 0 }) => Math.abs(clockOffset) > clockTolerance)
  const signs = configuration?.issuers.some(
    ({ clientAuthentication }) => clientAuthentication === 'private_key_jwt',
  )
  return withDate.map(({ origin, clockOffset = 0 }) =>
    finding('clock-off', signs ? 'error' : 'warning', origin, {
      seen: `This machine's clock is ${inWords(Math.abs(clockOffset))} ${clockOffset > 0 ? 'ahead of' : 'behind'} the Date of this server.`,
      why: 'Certificates are judged by this clock, and signed assertions are refused if it is off.',
      fix: 'Synchronize the clock of this machine (NTP). If it is right, the server is wrong: tell its operator.',
    }),
  )
}

/** Returns a duration in a readable unit, such as `90 s` or `5 minutes`. */
export function inWords(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} minutes`
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} hours` : `${Math.round(ms / 86_400_000)} days`
}
