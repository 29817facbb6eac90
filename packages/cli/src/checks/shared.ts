import type { TokenlaneEvent } from '@tokenlane/core'

import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import type { SharedFacts } from '../facts/shared.ts'

/** Finds a shared token store or rate limiter that failed in its trial or in use. */
export function checkShared({ shared, events }: Facts): Finding[] {
  const tried = shared.flatMap((facts) => (facts.failure === undefined ? [] : [failed(facts, facts.failure)]))
  const seen = events.flatMap(failedInUse)
  // a fault that the trial found also shows in use: the finding of the trial says more
  const others = seen.filter(({ id }, index) => {
    const isFirst = seen.findIndex((one) => one.id === id) === index
    return isFirst && tried.every((one) => one.id !== id)
  })
  return [...tried, ...others]
}

const consequence = {
  'token store': 'Each process asks the issuer for a token of its own.',
  'rate limiter': 'Each process limits itself to a share.',
} as const

const idOf = { 'token store': 'store-failed', 'rate limiter': 'limiter-failed' } as const

function failed({ part, failedAt = '' }: SharedFacts, code: string): Finding {
  return finding(idOf[part], 'warning', part, {
    seen: `${failedAt.charAt(0).toUpperCase()}${failedAt.slice(1)} failed (${code}).`,
    why: consequence[part],
    fix: fixOf(code),
  })
}

function failedInUse(event: TokenlaneEvent): Finding[] {
  if (event.type !== 'store.failed' && event.type !== 'limiter.failed') return []
  const part = event.type === 'store.failed' ? 'token store' : 'rate limiter'
  return [
    finding(idOf[part], 'warning', part, {
      seen: `It failed while it was in use (${event.reason}).`,
      why: consequence[part],
      fix: fixOf(event.reason),
    }),
  ]
}

/** How to fix the errors of Redis, by code. */
const fixes: Readonly<Record<string, string>> = {
  NOPERM: 'Allow this user of Redis the commands that packages/redis/README.md names under "Settings".',
  NOAUTH: "Set the user name and password of Redis in its client's options.",
  WRONGPASS: "Correct the user name or password of Redis in its client's options.",
  OOM: 'The memory of Redis is full: raise its maxmemory, or remove what else is kept there.',
  READONLY: 'The client is connected to a replica: connect it to the master, or by Sentinel or Cluster.',
  LOADING: 'Redis is starting: wait until it has loaded its data.',
  NOREPLICAS: 'Redis has too few replicas to accept writes: look at min-replicas-to-write.',
  MISCONF: 'Redis cannot save to disk and refuses writes: look at its log.',
}

function fixOf(code: string): string {
  return (
    fixes[code] ??
    'Check that Redis runs, that this machine reaches it, and the URL, password and TLS settings of its client.'
  )
}
