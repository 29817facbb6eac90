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
  'token store': 'Each process requests its own token from the issuer.',
  'rate limiter': 'Each process limits itself to its share.',
} as const

const idOf = { 'token store': 'store-failed', 'rate limiter': 'limiter-failed' } as const

/** Store and limiter are usually kept by one server, and then fail for one reason. */
function ofTrial(failed: readonly SharedFacts[]): Finding {
  const [{ part, connection, endsModule = false }] = failed as readonly [SharedFacts]
  const steps = failed.map(({ failedAt = '', failure }) => `${failedAt} failed (${failure})`).join('; ')
  const codes = connection ? [connection.outcome] : failed.map(({ failure = '' }) => failure)
  return finding(idOf[part], endsModule ? 'error' : 'warning', failed.map((one) => one.part).join(' and '), {
    seen: `${steps.charAt(0).toUpperCase()}${steps.slice(1)}.${connection ? inWords([connection]) : ''}`,
    why: endsModule
      ? 'The module waits for Redis, so the application does not start. Nothing else was checked.'
      : failed.map((one) => consequence[one.part]).join(' '),
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
    'Allow this Redis user the commands and channels listed under "Redis and client settings" in node_modules/@tokenlane/redis/README.md.',
  NOAUTH: "Set the Redis user name and password in its client's options.",
  WRONGPASS: "Correct the Redis user name or password in its client's options.",
  OOM: 'Redis is out of memory: raise its maxmemory, or remove other data from it.',
  READONLY: 'The client is connected to a replica: connect it to the master, or through Sentinel or Cluster.',
  BUSY: 'A script is blocking Redis: wait for it, or end it with `SCRIPT KILL`.',
  LOADING: 'Redis is starting up: wait until it has loaded its data.',
  NOREPLICAS: 'Redis has too few replicas to accept writes: check min-replicas-to-write.',
  MISCONF: 'Redis cannot save to disk and refuses writes: check its log.',
  CLUSTERDOWN: 'The Redis cluster has no master for some slots: check CLUSTER INFO.',
  'no response':
    'Look at the Redis server: it accepts connections but does not respond. It hangs, something else listens on this port, or it does not speak TLS although the URL begins with `rediss:`.',
  CLIENT_CLOSED_ERROR:
    'Call `connect()` on the Redis client before passing it to Tokenlane, and do not close it while calls are made.',
  CLIENT_OFFLINE_ERROR:
    'The Redis client was not connected yet: wait for `connect()` before the first call, or leave out `disableOfflineQueue`.',
  closed:
    'Redis closes the connection: its URL must begin with `rediss://` if it uses TLS, and with `redis://` if not.',
}

function fixOf(code = ''): string {
  if (isUnknownAuthority(code))
    return 'Set NODE_EXTRA_CA_CERTS to the path of its CA certificate and restart, or pass the certificate to the Redis client (`ca` in its TLS options).'
  return (
    fixes[code] ??
    "Check that Redis is running and reachable from this machine, and check its client's URL, password and TLS settings."
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
        why: 'When its memory is full, Redis forgets tokens and rate budgets. Each process then requests a token, and calls are held back for one whole window.',
        fix: 'Set maxmemory-policy to noeviction: run `CONFIG SET maxmemory-policy noeviction`, and set it in the Redis configuration too.',
      },
    )
  })
}
