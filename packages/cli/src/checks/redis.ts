import type { SharedServer } from '@tokenlane/core/adapter'

import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import { clockTolerance, inWords } from './clock.ts'

/** Finds Redis servers whose clock or eviction policy breaks what the store and the limiter rely on. */
export function checkRedis({ shared }: Facts): Finding[] {
  const servers = new Map<string, Server>()
  for (const { part, server } of shared) {
    if (server === undefined) continue
    // store and limiter usually share one server
    const key = server.id || part
    servers.set(key, {
      ...server,
      subject: `${server.name} (${[servers.get(key)?.part, part].filter(Boolean).join(', ')})`,
      part,
    })
  }
  return [...servers.values()].flatMap((server) => clock(server).concat(eviction(server)))
}

interface Server extends SharedServer {
  readonly subject: string
  readonly part: string
}

function clock({ subject, clockOffset }: Server): Finding[] {
  if (Math.abs(clockOffset) <= clockTolerance) return []
  return [
    finding('clock-off', 'warning', subject, {
      seen: `This machine's clock is ${inWords(Math.abs(clockOffset))} ${clockOffset > 0 ? 'ahead of' : 'behind'} the clock of Redis.`,
      why: 'Rate limits are counted by the clock of Redis. When it is set right in one step, up to one more quota is sent in a window.',
      fix: 'Synchronize both machines (NTP); let a clock that is off be slewed, not set.',
    }),
  ]
}

function eviction({ subject, evictionPolicy = 'noeviction' }: Server): Finding[] {
  if (evictionPolicy === 'noeviction') return []
  return [
    finding('eviction-policy', 'warning', subject, {
      seen: `maxmemory-policy is ${evictionPolicy}.`,
      why: 'When its memory is full, Redis forgets tokens and rate budgets. Each process then asks for a token, and calls wait for a window.',
      fix: 'Set maxmemory-policy to noeviction: `CONFIG SET maxmemory-policy noeviction`, and in the configuration of Redis.',
    }),
  ]
}
