import { isIP, isIPv6 } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'

/** Where the servers listen, and what their clients call that. */
export interface Place {
  readonly address: string
  readonly name: string
  /** All names and addresses under which clients may come, each once. */
  readonly names: readonly string[]
}

const loopback = ['localhost', '127.0.0.1', '::1']
const everywhere = new Set(['0.0.0.0', '::'])

/** Returns the place of servers that listen on this address, by default on 127.0.0.1. */
export function placeOf({
  host = '127.0.0.1',
  hostname: given,
}: {
  host?: string | undefined
  hostname?: string | undefined
}): Place {
  const isEverywhere = everywhere.has(host)
  const name = given ?? (isEverywhere ? '127.0.0.1' : host)
  // the container's own names, and what another container calls the machine
  const others = isEverywhere
    ? [
        hostname(),
        'host.docker.internal',
        ...Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address)),
      ]
    : [host]
  const names = [...new Set([...loopback, name, ...others])]
  // an address of one interface only, such as fe80::1%eth0, is none of a certificate
  return { address: host, name, names: names.filter((one) => !one.includes('%')) }
}

export function hostIn(name: string): string {
  return isIPv6(name) ? `[${name}]` : name
}

/** Returns names and addresses as a certificate lists them (RFC 5280 §4.2.1.6). */
export function alternativeNames(
  names: readonly string[],
): ({ type: 2; value: string } | { type: 7; ip: string })[] {
  return names.map((name) => (isIP(name) > 0 ? { type: 7, ip: name } : { type: 2, value: name }))
}
