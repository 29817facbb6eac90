import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/** By how much the clock of a server may differ from this one, in milliseconds. */
export const clockTolerance = 60_000

/** A clock that is not the issuer's. */
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

/** Returns a length of time in the unit that people would say it in. */
export function inWords(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} minutes`
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} hours` : `${Math.round(ms / 86_400_000)} days`
}
