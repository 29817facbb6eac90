import { tokenForm } from '../../src/curl.ts'
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
    ...(isTokenRequest ? tokenForm(realm, issuer) : []),
    ...(isIssuer ? [] : [`-H "Authorization: Bearer $${realm.toUpperCase()}_ACCESS_TOKEN"`]),
  ]
  return parts.join(' \\\n  ')
}

/** Returns what sets the variable of a call's token; `undefined` for what needs none. */
export function tokenLine({ target }: JournalEntry): string | undefined {
  const issuer = /^(.+)-api$/.exec(target)?.[1]
  return issuer && `export "$(npx tokenlane token ${issuer} --print env)"`
}
