/**
 * One issuer together with the API that accepts its tokens. Each realm has its own origins, client registration and
 * keys.
 */
export type Realm = 'general' | 'weblink'

/** Both realms, in the order in which they are listed everywhere. */
export const realms: readonly Realm[] = ['general', 'weblink']

/** Returns one value for each realm, made by `make`. */
export function perRealm<Value>(make: (realm: Realm) => Value): Record<Realm, Value> {
  return { general: make('general'), weblink: make('weblink') }
}
