import { inWords } from '../application/connections.ts'
import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import type { SharedFacts } from '../facts/shared.ts'
import { isUnknownAuthority } from './certificate.ts'
import { groupsBy } from './groups.ts'

/** Finds a shared token store or rate limiter that failed in its trial or in use, and a Redis that may forget both. */
export function checkShared(facts: Facts): Finding[] {
  const failed = facts.shared.filter((one) => one.failure !== undefined && !isExplained(one, facts))
  return [...(failed.length > 0 ? [ofTrial(failed)] : []), ...failedInUse(facts), ...evictions(facts)]
}

/** Returns whether a file of authorities that could not be loaded explains the failure. */
function isExplained({ connection }: SharedFacts, { extraAuthorities }: Facts): boolean {
  return extraAuthorities?.fault !== undefined && isUnknownAuthority(connection?.outcome)
}

const consequence = {
  'token store': 'Each process asks the issuer for a token of its own.',
  'rate limiter': 'Each process limits itself to a share.',
} as const

const idOf = { 'token store': 'store-failed', 'rate limiter': 'limiter-failed' } as const

/** Store and limiter are usually kept by one server, and then fail for one reason. */
function ofTrial(failed: readonly SharedFacts[]): Finding {
  const [{ part, connection }] = failed as readonly [SharedFacts]
  const steps = failed.map(({ failedAt = '', failure }) => `${failedAt} failed (${failure})`).join('; ')
  const codes = connection ? [connection.outcome] : failed.map(({ failure = '' }) => failure)
  return finding(idOf[part], 'warning', failed.map((one) => one.part).join(' and '), {
    seen: `${steps.charAt(0).toUpperCase()}${steps.slice(1)}.${connection ? inWords([connection]) : ''}`,
    why: failed.map((one) => consequence[one.part]).join(' '),
    fix: fixOf(codes.find((code) => code in fixes) ?? codes[0]),
  })
}

/** A fault that the trial did not find, and that is not over. */
function failedInUse({ shared, events }: Facts): Finding[] {
  return (['token store', 'rate limiter'] as const).flatMap((part) => {
    const last = events.findLast(({ type }) =>
      type.startsWith(part === 'token store' ? 'store.' : 'limiter.'),
    )
    if (last?.type !== 'store.failed' && last?.type !== 'limiter.failed') return []
    if (shared.some((one) => one.part === part && one.failure !== undefined)) return []
    const seen = `It failed while it was in use (${last.reason}).`
    return [finding(idOf[part], 'warning', part, { seen, why: consequence[part], fix: fixOf(last.reason) })]
  })
}

/** How to fix the errors of Redis and of the way to it, by code. */
const fixes: Readonly<Record<string, string>> = {
  NOPERM:
    'Allow this user of Redis the commands and channels that packages/redis/README.md names under "Settings".',
  NOAUTH: "Set the user name and password of Redis in its client's options.",
  WRONGPASS: "Correct the user name or password of Redis in its client's options.",
  OOM: 'The memory of Redis is full: raise its maxmemory, or remove what else is kept there.',
  READONLY: 'The client is connected to a replica: connect it to the master, or by Sentinel or Cluster.',
  LOADING: 'Redis is starting: wait until it has loaded its data.',
  NOREPLICAS: 'Redis has too few replicas to accept writes: look at min-replicas-to-write.',
  MISCONF: 'Redis cannot save to disk and refuses writes: look at its log.',
  CLUSTERDOWN: 'The cluster of Redis has no master for some slots: look at CLUSTER INFO.',
  closed: 'Redis closes the connection: with TLS its URL begins with rediss:, without with redis:.',
}

function fixOf(code = ''): string {
  if (isUnknownAuthority(code))
    return "Set NODE_EXTRA_CA_CERTS to the path of its authority's certificate and restart, or give the certificate to the client of Redis (`ca` of its TLS options)."
  return (
    fixes[code] ??
    'Check that Redis runs, that this machine reaches it, and the URL, password and TLS settings of its client.'
  )
}

function evictions({ shared }: Facts): Finding[] {
  const servers = shared.filter(({ server }) => (server?.evictionPolicy ?? 'noeviction') !== 'noeviction')
  return groupsBy(servers, ({ part, server }) => server?.id || part).map((group) => {
    const [{ server }] = group as readonly [SharedFacts]
    return finding(
      'eviction-policy',
      'warning',
      `${server?.name} (${group.map(({ part }) => part).join(', ')})`,
      {
        seen: `maxmemory-policy is ${server?.evictionPolicy}.`,
        why: 'When its memory is full, Redis forgets tokens and rate budgets. Each process then asks for a token, and calls wait for a window.',
        fix: 'Set maxmemory-policy to noeviction: `CONFIG SET maxmemory-policy noeviction`, and in the configuration of Redis.',
      },
    )
  })
}
