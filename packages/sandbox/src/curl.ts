import type { IssuerState } from './control/state.ts'
import { quoted } from './in-words.ts'
import type { Realm } from './realm.ts'

/** Returns the arguments of curl for a token request as the issuer wants it, with variables for id and proof. */
export function tokenForm(realm: Realm, { clientAuthentication, scope }: IssuerState): string[] {
  const prefix = realm.toUpperCase()
  const id = `client_id=$${prefix}_CLIENT_ID`
  const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
  const proof = {
    client_secret_post: [`-d "${id}"`, `-d "client_secret=$${prefix}_CLIENT_SECRET"`],
    client_secret_basic: [`-u "$${prefix}_CLIENT_ID:$${prefix}_CLIENT_SECRET"`],
    private_key_jwt: [
      `-d "${id}"`,
      `-d client_assertion_type=${assertionType}`,
      '-d "client_assertion=$CLIENT_ASSERTION"',
    ],
  }[clientAuthentication]
  return [
    '-d grant_type=client_credentials',
    ...proof,
    ...(scope === '' ? [] : [`--data-urlencode ${quoted(`scope=${scope}`)}`]),
  ]
}
