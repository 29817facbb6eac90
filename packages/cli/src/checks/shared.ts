import { connectionsText } from '../application/connections.ts'
import { type Check, groupsBy, row, together } from './finding.ts'
import type { Facts } from '../facts/facts.ts'
import type { SharedFacts } from '../facts/shared.ts'
import { isUnknownAuthority } from './certificate.ts'
import { sentence } from './words.ts'

/** Returns whether a file of authorities that could not be loaded explains the failure. */
function isExplained({ connection }: SharedFacts, { extraAuthorities }: Facts): boolean {
  return extraAuthorities?.fault !== undefined && isUnknownAuthority(connection?.outcome)
}

const consequence = {
  'token store': 'Each process requests its own token from the issuer.',
  'rate limiter': 'Each process limits itself to its share.',
} as const

const idOf = { 'token store': 'store-failed', 'rate limiter': 'limiter-failed' } as const

/** Finds a token store or limiter that failed in its trial: both are usually kept by one server, and fail for one reason. */
const checkTrials: Check = row({
  cases(facts) {
    const failed = facts.shared.filter((one) => one.failure !== undefined && !isExplained(one, facts))
    const [first] = failed
    return first === undefined ? [] : [{ first, failed, endsModule: first.endsModule === true }]
  },
  subject: ({ failed }) => failed.map(({ part }) => part).join(' and '),
  id: ({ first }) => idOf[first.part],
  severity: ({ endsModule }) => (endsModule ? 'error' : 'warning'),
  seen({ first: { connection }, failed }) {
    const steps = failed.map(({ failedAt = '', failure }) => `${failedAt} failed (${failure})`).join('; ')
    return `${sentence(steps)}${connection ? connectionsText([connection]) : ''}`
  },
  why: ({ failed, endsModule }) =>
    endsModule
      ? 'The module waits for Redis, so the application does not start. Nothing else was checked.'
      : failed.map(({ part }) => consequence[part]).join(' '),
  fix({ first: { connection }, failed }) {
    const codes = connection ? [connection.outcome] : failed.map(({ failure = '' }) => failure)
    return fixOf(codes.find((code) => code in fixes) ?? codes[0])
  },
})

const checkInUse: Check = row({
  cases: ({ shared, events }) =>
    (['token store', 'rate limiter'] as const).flatMap((part) => {
      const start = part === 'token store' ? 'store.' : 'limiter.'
      const last = events.findLast(({ type }) => type.startsWith(start))
      if (last?.type !== 'store.failed' && last?.type !== 'limiter.failed') return []
      return shared.some((one) => one.part === part && one.failure !== undefined)
        ? []
        : [{ part, reason: last.reason }]
    }),
  severity: 'warning',
  subject: ({ part }) => part,
  why: ({ part }) => consequence[part],
  id: ({ part }) => idOf[part],
  seen: ({ reason }) => `It failed while it was in use (${reason}).`,
  fix: ({ reason }) => fixOf(reason),
})

const checkEvictions: Check = row({
  cases: ({ shared }) =>
    groupsBy(
      shared.filter(({ server }) => (server?.evictionPolicy ?? 'noeviction') !== 'noeviction'),
      ({ part, server }) => server?.id || part,
    ).map((group) => ({ server: group[0]?.server, parts: group.map(({ part }) => part).join(', ') })),
  id: 'eviction-policy',
  severity: 'warning',
  subject: ({ server, parts }) => `${server?.name} (${parts})`,
  seen: ({ server }) => `maxmemory-policy is ${server?.evictionPolicy}.`,
  why: 'When its memory is full, Redis forgets tokens and rate budgets. Each process then requests a token, and calls are held back for one whole window.',
  fix: 'Set maxmemory-policy to noeviction: run `CONFIG SET maxmemory-policy noeviction`, and set it in the Redis configuration too.',
})

export const checkShared: Check = together(checkTrials, checkInUse, checkEvictions)

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
    'The Redis client was not connected yet: wait for `connect()` before the first call, or leave out `disableOfflineQueue` or `enableOfflineQueue: false`.',
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
