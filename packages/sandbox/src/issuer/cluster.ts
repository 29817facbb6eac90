import { generateKeyPairSync, randomUUID, sign, verify, type KeyObject } from 'node:crypto'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { BoundedMap } from '../bounded-map.ts'
import type { Flaw } from '../journal/entry.ts'

/** What an assertion from the cluster says. */
export interface AssertionOptions {
  /** The server it is for. Default: the issuer's origin. */
  audience?: string
  /**
   * Its lifetime from now on, in milliseconds; if negative, it has already expired.
   *
   * @defaultValue 600_000
   */
  lifetime?: number
}

export interface AssertionJudgement {
  /** Why it is refused, `undefined` if it is not. */
  readonly fault?: string
  readonly flaws: readonly Flaw[]
}

/** A cluster whose workloads prove themselves with assertions that it signs, as Kubernetes does. */
export interface Cluster {
  assertion(options?: AssertionOptions): string
  /** Makes a new key, and replaces each file. With `overlap` assertions of the earlier keys are still accepted. */
  rotateKeys(options: { overlap: boolean }): void
  /** Returns the keys that are published now (RFC 7517 §5). */
  jwks(): { keys: Readonly<Record<string, unknown>>[] }
  /** Returns whether an assertion is accepted, and what its client did wrong. An accepted one counts as sent. */
  judge(assertion: string): AssertionJudgement
  /**
   * Keeps a file with an assertion, which is replaced at four fifths of its life as the kubelet does it: a link is swapped
   * to a new folder.
   *
   * @returns the path of the file.
   */
  project(options?: AssertionOptions): string
  /** Returns the path of the one file that the variables of the environment name, with an assertion for the issuer. */
  file(): string
  close(): void
}

interface ProjectedFile {
  replace(): void
  remove(): void
}

/** A sandbox that runs for days forgets its oldest assertions. */
const rememberedAssertions = 100_000

interface Key {
  kid: string
  privateKey: KeyObject
  publicKey: KeyObject
}

/**
 * Returns a cluster that one issuer trusts.
 *
 * @param epoch returns the time on the issuer's clock, in milliseconds since 1970.
 * @param singleUse whether an assertion is accepted once.
 */
export function createCluster(
  { origin, subject, singleUse }: { origin: string; subject: string; singleUse: boolean },
  epoch: () => number,
): Cluster {
  const issuer = `${origin}/cluster`
  let made = 0
  const make = (): Key => ({
    kid: `cluster-${(made += 1)}`,
    ...generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  })
  let keys = [make()]
  /** The assertions that were sent, where each is accepted once. */
  const used = new BoundedMap<true>(rememberedAssertions)
  /** When an assertion in a file that was replaced counts as kept for too long. */
  const staleFrom = new BoundedMap<number>(rememberedAssertions)
  const files = new Set<ProjectedFile>()
  let named: string | undefined

  const assertion = ({ audience = origin, lifetime = 600_000 }: AssertionOptions = {}): string => {
    const [{ kid, privateKey }] = keys as [Key]
    const iat = Math.floor(Date.now() / 1_000)
    const exp = Math.floor((Date.now() + lifetime) / 1_000)
    const claims = { iss: issuer, sub: subject, aud: [audience], iat, exp, jti: randomUUID() }
    const text = [{ alg: 'ES256', kid }, claims].map(encoded).join('.')
    return `${text}.${sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding }).toString('base64url')}`
  }

  const cluster: Cluster = {
    assertion,
    rotateKeys({ overlap }) {
      keys = [make(), ...(overlap ? keys : [])]
      for (const file of files) file.replace()
    },
    jwks: () => ({
      keys: keys.map(({ kid, publicKey }) => ({
        ...publicKey.export({ format: 'jwk' }),
        kid,
        alg: 'ES256',
        use: 'sig',
      })),
    }),
    judge(given) {
      const [header = '', body = '', signature = ''] = given.split('.')
      const { kid } = decoded(header)
      const { iss, sub, aud, exp, jti } = decoded(body)
      const key = keys.find((each) => each.kid === kid)
      // what was rotated away may have been right when the client read it
      if (key === undefined)
        return { fault: 'its key is unknown to the cluster, or was rotated out', flaws: [] }
      const bytes = Buffer.from(`${header}.${body}`)
      const options = { key: key.publicKey, dsaEncoding } as const
      if (!verify('sha256', bytes, options, Buffer.from(signature, 'base64url')))
        return refused('its signature is wrong', 'client-authentication')
      if (iss !== issuer || sub !== subject)
        return refused('it is from another cluster or workload', 'client-authentication')
      if (![aud].flat().includes(origin)) return refused('it is for another audience', 'foreign-assertion')
      const expiresAt = Number(exp) * 1_000
      // by a clock that the sandbox was told to set wrong, it is not the client's mistake
      if (!(expiresAt > epoch()))
        return { fault: 'it has expired', flaws: expiresAt > Date.now() ? [] : ['expired-assertion'] }
      const id = String(jti)
      if (singleUse) {
        if (used.get(id)) return refused('it was sent before', 'replayed-assertion')
        used.set(id, true)
      }
      return { flaws: (staleFrom.get(id) ?? Infinity) <= Date.now() ? ['stale-assertion'] : [] }
    },
    project({ audience, lifetime = 600_000 } = {}) {
      const folder = mkdtempSync(join(tmpdir(), 'tokenlane-projected-'))
      let version = 0
      let current: { readonly id: string; readonly expiresAt: number } | undefined
      let timer: NodeJS.Timeout | undefined
      const replace = (): void => {
        clearTimeout(timer)
        version += 1
        const now = Date.now()
        if (current !== undefined) {
          const { id, expiresAt } = current
          // half of the life that it has left
          staleFrom.set(id, (now + expiresAt) / 2)
        }
        const old = `..version-${version - 1}`
        const next = `..version-${version}`
        mkdirSync(join(folder, next), { mode: 0o700 })
        const text = assertion({ ...(audience !== undefined && { audience }), lifetime })
        current = { id: idOf(text), expiresAt: now + lifetime }
        writeFileSync(join(folder, next, 'token'), text, { mode: 0o600 })
        symlinkSync(next, join(folder, '..data_tmp'))
        renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
        rmSync(join(folder, old), { recursive: true, force: true })
        timer = setTimeout(replace, Math.max(1, lifetime * 0.8)).unref()
      }
      replace()
      files.add({
        replace,
        remove() {
          clearTimeout(timer)
          rmSync(folder, { recursive: true, force: true })
        },
      })
      symlinkSync(join('..data', 'token'), join(folder, 'token'))
      return join(folder, 'token')
    },
    file: () => (named ??= cluster.project()),
    close() {
      for (const file of files) file.remove()
      files.clear()
    },
  }
  return cluster
}

const dsaEncoding = 'ieee-p1363'

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

function refused(fault: string, flaw: Flaw): AssertionJudgement {
  return { fault, flaws: [flaw] }
}

function idOf(assertion: string): string {
  return String(decoded(assertion.split('.')[1] ?? '')['jti'])
}

function decoded(part: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(Buffer.from(part, 'base64url').toString()) as object) }
  } catch {
    return {}
  }
}
