/**
 * One issuer together with the API that takes its tokens. The two realms share nothing: own origins, own
 * client registration, own keys.
 */
export type Realm = 'general' | 'weblink'

/** Both realms, in the order in which everything lists them. */
export const realms: readonly Realm[] = ['general', 'weblink']

/** One value per realm, made by `make`. */
export function perRealm<Value>(make: (realm: Realm) => Value): Record<Realm, Value> {
  return { general: make('general'), weblink: make('weblink') }
}
