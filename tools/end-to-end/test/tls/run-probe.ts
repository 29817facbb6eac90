import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { Probe } from './probe.ts'
import { oldCiphers, type TlsServers, type TlsVersion } from './tls-servers.ts'

export interface ProbeOptions {
  /** The Node to run. */
  readonly node: string
  readonly flags?: readonly string[]
  /** What the process sets `tls.DEFAULT_MIN_VERSION` to once a token manager has been created. */
  readonly assign?: TlsVersion
}

/** Runs the probe in a process of its own. */
export async function runProbe(
  { ca, urls }: TlsServers,
  { node, flags = [], assign }: ProbeOptions,
): Promise<Probe> {
  const file = fileURLToPath(new URL('./probe.ts', import.meta.url))
  const env = { ...process.env, NODE_OPTIONS: [...flags, `--tls-cipher-list=${oldCiphers}`].join(' ') }
  const { stdout } = await promisify(execFile)(node, [file, JSON.stringify({ ca, urls, assign })], { env })
  return JSON.parse(stdout) as Probe
}
