// Findings of the exam that were read in the client's own source, each with the line that causes it.
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** A finding with the line that causes it. */
export interface Confirmed {
  readonly client: string
  readonly scene: string
  readonly rule: string
  /** What the client does, in plain words. */
  readonly finding: string
  /** In the `node_modules` of this folder, or an absolute path of Debian's package. */
  readonly file: string
  /** The part of the line that only this line has. */
  readonly code: string
}

const goPath = '/usr/share/gocode/src/golang.org/x/oauth2'
const pythonPath = '/usr/lib/python3/dist-packages'

export const confirmed: readonly Confirmed[] = [
  {
    client: 'Go: golang.org/x/oauth2',
    scene: 'redirect',
    rule: 'token-outside',
    finding:
      'Its transport adds the token to every request that passes through it, including requests that follow a redirect to another host.',
    file: `${goPath}/transport.go`,
    code: 'token.SetAuthHeader(req2)',
  },
  {
    client: 'Go: golang.org/x/oauth2',
    scene: 'revocation',
    rule: 'rejected-token',
    finding: 'Only the expiry is checked. A token that the API refuses stays in use until it expires.',
    file: `${goPath}/oauth2.go`,
    code: 'if s.t.Valid() {',
  },
  {
    client: 'google-auth-library',
    scene: 'cold-start',
    rule: 'stampede',
    finding: 'Each call without a live token runs the refresh handler, regardless of other calls.',
    file: 'google-auth-library/build/src/auth/oauth2client.js',
    code: '            const refreshedAccessToken = await this.processAndValidateRefreshHandler();\n            if',
  },
  {
    client: 'google-auth-library',
    scene: 'revocation',
    rule: 'work-lost',
    finding:
      'After a 401, a call is retried only if the token has no expiry or `forceRefreshOnFailure` is set.',
    file: 'google-auth-library/build/src/auth/oauth2client.js',
    code: '(!this.credentials.expiry_date || this.forceRefreshOnFailure) &&',
  },
  {
    client: 'google-auth-library',
    scene: 'expiry',
    rule: 'needless-renewal',
    finding: "Whatever a token's lifetime, it is renewed a fixed time before expiry: 5 minutes by default.",
    file: 'google-auth-library/build/src/auth/oauth2client.js',
    code: '? expiryDate <= new Date().getTime() + this.eagerRefreshThresholdMillis',
  },
  {
    client: '@azure/core-rest-pipeline',
    scene: 'revocation',
    rule: 'rejected-token',
    finding:
      'After a 401, the client renews the token only if the response has a claims challenge or the caller provided a callback. A plain `invalid_token` has no effect.',
    file: '@azure/core-rest-pipeline/dist/esm/policies/bearerTokenAuthenticationPolicy.js',
    code: 'else if (callbacks.authorizeRequestOnChallenge) {',
  },
  {
    client: '@badgateway/oauth2-client',
    scene: 'refused-client',
    rule: 'hammered-issuer',
    finding:
      'A failed token request is forgotten immediately, and the next call sends another token request without a pause.',
    file: '@badgateway/oauth2-client/dist/fetch-wrapper.js',
    code: '            this.activeRefresh = null;\n        }\n    }\n    scheduleRefresh',
  },
  {
    client: '@modelcontextprotocol/client',
    scene: 'cold-start',
    rule: 'stampede',
    finding:
      "Each call that gets a 401 requests its own token. No call waits for another call's token request.",
    file: '@modelcontextprotocol/client/dist/index.mjs',
    code: 'if (response.status === 401) try {',
  },
  {
    client: 'simple-oauth2',
    scene: 'expiry',
    rule: 'work-lost',
    finding: 'A token counts as live until its last millisecond, unless the caller passes a margin.',
    file: 'simple-oauth2/lib/access-token.js',
    code: 'return this.token.expires_at - (Date.now() + expirationWindowSeconds * 1000) <= 0;',
  },
  {
    client: 'Python: requests-oauthlib',
    scene: 'expiry',
    rule: 'work-lost',
    finding: 'A token counts as live until its last moment, without a margin for the time a call takes.',
    file: `${pythonPath}/oauthlib/oauth2/rfc6749/clients/base.py`,
    code: 'if self._expires_at and self._expires_at < time.time():',
  },
  {
    client: 'Python: Authlib',
    scene: 'expiry',
    rule: 'stampede',
    finding:
      "Each thread that finds the token expired requests another one. Nothing makes a session's threads wait for each other.",
    file: `${pythonPath}/authlib/oauth2/client.py`,
    code: "new_token = self.fetch_token(url, grant_type='client_credentials')",
  },
  {
    client: 'Ruby: oauth2',
    scene: 'expiry',
    rule: 'work-lost',
    finding:
      'The client compares whole seconds, so a token counts as live for up to a second after it expires.',
    file: '/usr/lib/ruby/vendor_ruby/oauth2/access_token.rb',
    code: 'expires? && (expires_at < Time.now.to_i)',
  },
]

/**
 * Returns the place of the line.
 *
 * @throws Error if the line is not there, or there twice.
 */
export function placeOf({ file, code }: Confirmed): string {
  const path = file.startsWith('/') ? file : join(import.meta.dirname, '../node_modules', file)
  const [before = '', ...rest] = readFileSync(path, 'utf8').split(code)
  if (rest.length !== 1) throw new Error(`Cannot confirm: ${file} has ${rest.length} times ${code}`)
  return `${file.startsWith('/') ? basename(file) : file}:${before.split('\n').length}`
}
