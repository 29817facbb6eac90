import type { OfferedTls } from '../server/client-hello.ts'
import type { Watch } from './watch.ts'

/** Records a connection whose client offered a TLS version below 1.2, which servers must not accept (RFC 8996). */
export function noticeOldTls(
  { old, alsoNew }: OfferedTls,
  { realm, kind, now, connections, observe }: Watch,
): void {
  const at = now()
  const connection = connections.open()
  const offered = `offered ${old.join(' and ')}`
  observe(
    {
      at: new Date().toISOString(),
      target: `${realm}-${kind}`,
      client: 'unknown',
      connection: connection.number,
      method: null,
      path: null,
      token: null,
      status: null,
      decision: alsoNew ? 'answered' : 'refused',
      reason: alsoNew ? `${offered} alongside a newer version` : `${offered} and nothing newer`,
    },
    {
      realm,
      kind: 'connection',
      beganAt: at,
      reachedAt: at,
      arrivedAt: at,
      decidedAt: at,
      call: '',
      retryAt: undefined,
      token: undefined,
      onConnection: 0,
      resumed: false,
      cut: false,
      flaws: ['old-tls'],
    },
    connection,
  )
}
