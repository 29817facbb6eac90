import { generalIssuer, weblinkIssuer, type IssuerOptions } from '@tokenlane/core'
import type { Sandbox } from '@tokenlane/sandbox'

/** Returns the options of the sandbox's two issuers. The weblink issuer's tokens may also go to a test's own APIs without TLS. */
export function issuersOf({
  authUrl,
  weblinkAuthUrl,
  credentials,
}: Sandbox): Record<'general' | 'weblink', IssuerOptions> {
  return {
    general: generalIssuer({ authUrl, credentials: credentials.general }),
    weblink: weblinkIssuer({
      authUrl: weblinkAuthUrl,
      credentials: credentials.weblink,
      allowInsecureLoopback: true,
    }),
  }
}
