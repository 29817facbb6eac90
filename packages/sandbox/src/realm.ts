/**
 * One issuer together with the API that accepts its tokens. Each realm has its own origins, client registration and
 * keys.
 */
export type Realm = 'general' | 'weblink'

export const realms: readonly Realm[] = ['general', 'weblink']

export function perRealm<Value>(make: (realm: Realm) => Value): Record<Realm, Value> {
  return { general: make('general'), weblink: make('weblink') }
}
