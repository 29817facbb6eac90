import type { Emit } from '../events.ts'
import { credentialsOption } from '../issuer/protocol.ts'
import { refuse, shape } from '../options/check.ts'
import { refusingTo } from '../options/faults.ts'
import { GuardedStore } from './guarded-store.ts'
import { sharedSource } from './shared-source.ts'
import { type StoreKey, storeKeys } from './store-key.ts'
import { type ShareTokens, type SharedStore, sharing, type TokenStore } from './token-store.ts'

/**
 * Returns the value for a manager's `store` option: a token store, with what managers need to share tokens through it.
 * Only applications that share tokens load this code.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` for anything that is not a token store, and for an invalid key.
 * @example
 * ```ts
 * const tokens = createTokenManager({ issuers, apis, store: sharedStore(new MyStore()) })
 * ```
 */
export function sharedStore(
  store: TokenStore,
  { key }: { readonly key?: StoreKey | undefined } = {},
): SharedStore {
  refusingTo('share token store', () => mustBeStore(store))
  const keys = key === undefined ? undefined : storeKeys(key)
  return {
    claim: store.claim.bind(store),
    write: store.write.bind(store),
    release: store.release.bind(store),
    drop: store.drop.bind(store),
    ...(store.wait && { wait: store.wait.bind(store) }),
    ...(store.server && { server: store.server.bind(store) }),
    [sharing](emit: Emit): ShareTokens {
      const guarded = new GuardedStore(store, emit)
      return (source, endpoint, leaseTime, clients) => {
        if (keys === undefined && clients.some((client) => 'assertion' in client))
          refuse(
            'store',
            `without its own key, and \`${credentialsOption(endpoint)}\` holds an assertion, which cannot seal tokens`,
            'redisTokenStore({ client, key }), or sharedStore(store, { key })',
          )
        return sharedSource(guarded, source, endpoint, leaseTime, keys)
      }
    },
  }
}

function mustBeStore(store: unknown): void {
  const methods = (store ?? {}) as Readonly<Record<string, unknown>>
  for (const method of ['claim', 'write', 'release', 'drop'])
    if (typeof methods[method] !== 'function')
      refuse('store', shape(store), 'a token store, with claim, write, release and drop')
}
