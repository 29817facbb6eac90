import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a PKCS#12 file of PEM texts. */
export function pkcs12(pem: readonly string[], passphrase: string, ...options: readonly string[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'pkcs12-'))
  try {
    const path = join(folder, 'pem')
    // not by standard input, which openssl would read twice
    writeFileSync(path, pem.join('\n'), { mode: 0o600 })
    const args = ['pkcs12', '-export', '-in', path, '-passout', `pass:${passphrase}`, ...options]
    return execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
