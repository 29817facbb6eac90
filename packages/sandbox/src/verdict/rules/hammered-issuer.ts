import { perRealm } from '../../realm.ts'
import { plural } from '../../in-words.ts'
import type { Rule } from '../rule.ts'

const most = 10
const window = 1_000

/** Token requests in quick succession while the issuer refuses them or does not respond. */
export const hammeredIssuer: Rule = {
  name: 'hammered-issuer',
  severity: 'error',
  message: (count) =>
    `${plural(count, 'token request was', 'token requests were')} sent after ${most} others had failed within a second`,
  fix: 'After each failed token request, wait longer before the next one, with jitter, and remember a refusal for a while.',
  watch(report) {
    const failures = perRealm((): { id: number; at: number }[] => [])
    return {
      see({ entry, kind, realm, arrivedAt }) {
        if (kind !== 'issuer' || !['refused', 'failed'].includes(entry.decision)) return
        const recent = failures[realm].filter(({ at }) => arrivedAt - at < window)
        const first = recent[0]
        if (first !== undefined && recent.length >= most) report({ evidence: [first.id, entry.id] })
        failures[realm] = [...recent.slice(-most), { id: entry.id, at: arrivedAt }]
      },
    }
  },
}
