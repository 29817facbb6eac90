import type { JournalEntry, SandboxState } from '../../src/index.ts'

/**
 * Returns the request of an entry as a shell command, with variables in the place of token and secret. The journal keeps
 * neither queries nor bodies, so the command has none, but for the form of a token request. `undefined` for what was not a
 * request.
 */
export function asCurl(
  { target, method, path }: JournalEntry,
  { issuers, apis }: SandboxState,
): string | undefined {
  if (method === null || path === null) return undefined
  const realm = target.startsWith('general') ? 'general' : 'weblink'
  const isIssuer = target.endsWith('issuer')
  const issuer = issuers[realm]
  const { origin } = new URL(isIssuer ? issuer.tokenEndpoint : apis[realm].baseUrl)
  const isTokenRequest = isIssuer && method === 'POST'
  const parts = [
    // without --tlsv1.2, curl may offer older versions too, which the verdict reports; what a shell could read in another way is quoted
    `curl -i --tlsv1.2 --cacert "$NODE_EXTRA_CA_CERTS" '${origin}${path.replaceAll("'", '%27')}'`,
    ...(method === 'GET' || isTokenRequest ? [] : [`-X ${method}`]),
    ...(isTokenRequest ? form(realm.toUpperCase(), issuer) : []),
    ...(isIssuer ? [] : [`-H "Authorization: Bearer $${realm.toUpperCase()}_ACCESS_TOKEN"`]),
  ]
  return parts.join(' \\\n  ')
}

/** Returns the form of a token request as the issuer wants it. */
function form(prefix: string, { clientAuthentication, scope }: SandboxState['issuers']['general']): string[] {
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
    ...(scope === '' ? [] : [`--data-urlencode 'scope=${scope}'`]),
  ]
}

/** Returns what sets the variable of a call's token; `undefined` for what needs none. */
export function tokenLine({ target }: JournalEntry): string | undefined {
  const issuer = /^(.+)-api$/.exec(target)?.[1]
  return issuer && `export "$(npx tokenlane token ${issuer} --print env)"`
}
