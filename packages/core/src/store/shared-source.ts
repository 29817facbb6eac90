import { keyOf } from '../credentials/client.ts'
import type { MemoryOf } from '../credentials/credential-rotation.ts'
import { type ClientCredentials, unavailable } from '../credentials/credentials.ts'
import { isRefusal, refusalMemory } from '../credentials/refused-client.ts'
import { isTokenlaneError, reasonOf, type TokenlaneError } from '../errors.ts'
import { failure } from '../issuer/issuer-failure.ts'
import { identityOf, type TokenEndpoint } from '../issuer/protocol.ts'
import type { ClientTokenSource, Grant, Wait } from '../issuer/token-source.ts'
import { has } from '../options/check.ts'
import { later, moment } from '../time/expiry.ts'
import { finiteDuration } from '../time/duration.ts'
import { type GuardedStore, storeTimeout } from './guarded-store.ts'
import { holderWait } from './holder-wait.ts'
import { sealOf, type StoredRefusal, type StoredToken, type TokenSeal } from './token-seal.ts'

/** This many stale entries in a row are no race any more: the process then asks for itself. */
const mostStale = 3
/** How long no process asks an issuer in trouble after a failure, in milliseconds: the least and the most. */
const shortestPause = 250
const longestPause = 300_000
/** The most by which clocks of processes may differ, in milliseconds. */
const clockTolerance = 300_000

/**
 * Returns the source that several processes share: it takes the token from the store if it is there; else one process
 * asks `source`, and the others wait for what it gets. A refusal is shared like a token.
 *
 * @param keysOfStore returns the store's own keys.
 */
export function sharedSource(
  store: GuardedStore,
  source: ClientTokenSource,
  endpoint: TokenEndpoint,
  leaseTime: number,
  keysOfStore: () => Promise<readonly string[]>,
): ClientTokenSource {
  const identity = identityOf(endpoint)
  let sealed: { readonly owner: string; readonly seal: TokenSeal } | undefined
  /** Which entry of the store holds the token that this process uses; `token` until an API refuses it. */
  let kept: { readonly name: string; readonly entry: string; token?: StoredToken } | undefined
  let writing: Promise<unknown> | undefined
  const keptUnder = (name: string): typeof kept => (kept?.name === name ? kept : undefined)

  async function sealFor(client: ClientCredentials): Promise<TokenSeal> {
    try {
      const storeKeys = 'assertion' in client ? await keysOfStore() : undefined
      const owner = JSON.stringify([keyOf(client), storeKeys])
      // deriving its keys takes half a millisecond
      if (sealed?.owner !== owner) sealed = { owner, seal: await sealOf(identity, client, storeKeys) }
      return sealed.seal
    } catch (error) {
      const reason = isTokenlaneError(error) ? reasonOf(error) : (error as Error).message
      throw unavailable(endpoint.issuer, reason, { definite: true })
    }
  }

  function keep(grant: Grant, name: string, entry: string, token: StoredToken): Grant {
    const own: typeof kept = { name, entry, token }
    kept = own
    const drop = (): void => {
      delete own.token
      void store.drop(name, entry)
    }
    return { ...grant, drop }
  }

  /**
   * Waits until there is a token that calls accept, or it is this process's turn to ask the issuer: for all processes or,
   * without a `fence` since the store fails, for this one alone.
   *
   * @throws TokenlaneError `TOKEN_REQUEST_REFUSED` if another process was refused, `TOKEN_REQUEST_TIMEOUT` if none of
   * them gets a token in time.
   */
  async function find(seal: TokenSeal, wait: Wait): Promise<Grant | { readonly fence: string | undefined }> {
    const { name } = seal
    const waitForHolder = holderWait(leaseTime, wait)
    let stale = keptUnder(name)?.entry
    for (let seen = 0; seen < mostStale;) {
      const claim = await store.claim(name, stale, leaseTime)
      if (claim === undefined) {
        // without the store every process asks for itself, but not all of them at the same moment
        await wait.pause(Math.random() * Math.min(storeTimeout, wait.timeLeft / 4))
        break
      }
      if (claim === 'locked') {
        if (await waitForHolder()) continue
        const reason = 'has not responded to the process that requests the token for all processes'
        throw failure(endpoint, 'TOKEN_REQUEST_TIMEOUT', reason)
      }
      if (has(claim, 'fence')) return claim
      const { entry, expiresIn } = claim
      const stored = await seal.open(entry)
      if (stored === undefined) store.failed('unreadable')
      else store.works()
      if (stored !== undefined && has(stored, 'token')) {
        const grant = grantOf(stored, expiresIn)
        if (wait.accepts(grant)) return keep(grant, name, entry, stored)
      } else if (stored !== undefined && !isPutBack(stored)) {
        // processes without a better token use the one before the refusal until it expires
        const last = stored.last && grantOf(stored.last)
        if (last === undefined || !wait.accepts(last)) throw refusedBefore(endpoint, stored, expiresIn)
        return { ...last, drop: () => void store.drop(name, entry) }
      }
      stale = entry
      seen += 1
    }
    return { fence: undefined }
  }

  /** Lets another process try, or writes down for all of them that the client is refused. */
  async function giveUp(error: unknown, seal: TokenSeal, fence: string, memory?: MemoryOf): Promise<void> {
    const { name } = seal
    if (isRefusal(error)) {
      const { status, oauthError } = error
      const refusal = { status, oauthError, refusedAt: Date.now(), last: keptUnder(name)?.token }
      writing = store.write(name, fence, await seal.seal(refusal), memory?.(error) ?? refusalMemory)
      return
    }
    // together, the processes ask an issuer in trouble not more often than one process would
    const isTrouble = isTokenlaneError(error) && error.code.startsWith('TOKEN_')
    const pause = isTrouble ? Math.min(longestPause, Math.max(shortestPause, error.retryAfter ?? 0)) : 0
    writing = store.release(name, fence, pause)
  }

  return {
    async obtain(client, reason, wait, memory) {
      const seal = await sealFor(client)
      const found = await find(seal, wait)
      if (has(found, 'token')) return found
      const { fence } = found
      try {
        const grant = await source.obtain(client, reason, wait)
        if (fence === undefined) {
          kept = undefined
          return grant
        }
        const { token, lifetime, expiry, missingScopes, date } = grant
        const stored = { token, lifetime, expiresAt: expiry.wall, missingScopes, date }
        // before any call uses the token: its refusal must be able to name the entry
        const entry = await seal.seal(stored)
        const left = Math.max(1, Math.floor(stored.expiresAt - Date.now()))
        writing = store.write(seal.name, fence, entry, left)
        return keep(grant, seal.name, entry, stored)
      } catch (error) {
        if (fence !== undefined) await giveUp(error, seal, fence, memory)
        throw error
      }
    },
    async idle() {
      await writing
      await source.idle?.()
    },
  }
}

function grantOf(
  { token, lifetime, expiresAt, missingScopes = [], date }: StoredToken,
  expiresIn: number = lifetime,
): Grant {
  // our clock and that of the process that wrote it may differ: no token has more left than it ever had
  const left = Math.min(expiresAt - Date.now(), expiresIn, lifetime)
  return { token, lifetime, expiry: later(moment(), left), missingScopes, date }
}

/** Whether a refusal is older than the store keeps it: it was put back. */
function isPutBack({ refusedAt }: StoredRefusal): boolean {
  return Math.abs(Date.now() - refusedAt) > refusalMemory + clockTolerance
}

function refusedBefore(
  endpoint: TokenEndpoint,
  { status, oauthError }: StoredRefusal,
  expiresIn: number = refusalMemory,
): TokenlaneError {
  const what = oauthError === undefined ? `status ${status}` : `${oauthError} (status ${status})`
  const reason = `refused another process with the same credentials: ${what}`
  const details = { status, oauthError, definite: true, retryAfter: finiteDuration(expiresIn, refusalMemory) }
  return failure(endpoint, 'TOKEN_REQUEST_REFUSED', reason, details)
}
