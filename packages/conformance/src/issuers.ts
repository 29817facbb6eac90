import { generalIssuer, weblinkIssuer, type IssuerOptions } from '@tokenlane/core'
import type { Sandbox } from '@tokenlane/sandbox'

/** Both issuers of the sandbox; the weblink one also for APIs that a test makes itself, without TLS. */
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
