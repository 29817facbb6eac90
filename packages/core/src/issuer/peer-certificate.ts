import { builtinModule } from '../runtime/builtin-module.ts'

/** What counts of `node:tls`. */
interface Tls {
  connect(options: object): {
    getPeerCertificate(): { readonly valid_from?: string; readonly valid_to?: string }
    once(event: 'secureConnect' | 'error' | 'timeout', listener: () => void): void
    destroy(): void
  }
}

/** Longer than this is not worth a better message, in milliseconds. */
const longest = 1_000

/**
 * Returns from when to when the certificate is valid that a server shows, `undefined` where that cannot be seen.
 *
 * For the message after a handshake that failed: nothing is sent over this connection.
 */
export async function peerCertificate({
  hostname,
  port,
}: URL): Promise<{ from: Date; until: Date } | undefined> {
  const tls = builtinModule('node:tls') as Tls | undefined
  if (tls === undefined) return undefined
  const host = hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve) => {
    const isName = !/^[\d.]+$|:/.test(host)
    const socket = tls.connect({
      host,
      port: Number(port || 443),
      // by which a server of several names chooses its certificate
      ...(isName && { servername: host }),
      rejectUnauthorized: false,
      timeout: longest,
    })
    const end = (validity?: { from: Date; until: Date }): void => {
      socket.destroy()
      resolve(validity)
    }
    socket.once('error', () => end())
    socket.once('timeout', () => end())
    socket.once('secureConnect', () => {
      const { valid_from: from = '', valid_to: until = '' } = socket.getPeerCertificate()
      end({ from: new Date(from), until: new Date(until) })
    })
  })
}
