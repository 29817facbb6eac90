import type { Sandbox } from '@tokenlane/sandbox'

/** How many callers the program is asked to have for each API. */
export const callers = 10

/** How many calls a second each API allows, unless a scene says otherwise: more than the callers make. */
const callsPerSecond = 500

export interface ProgramFiles {
  readonly ca: string
  readonly general: string
  readonly weblink: string
}

export function environmentOf(
  { control }: Sandbox,
  { ca, general, weblink }: ProgramFiles,
  scene: string,
): Record<string, string> {
  const { issuers } = control.state()
  return {
    ...control.environment(),
    GENERAL_TOKEN_URL: issuers.general.tokenEndpoint,
    WEBLINK_TOKEN_URL: issuers.weblink.tokenEndpoint,
    WEBLINK_SCOPE: issuers.weblink.scope,
    GENERAL_CREDENTIALS_FILE: general,
    WEBLINK_CREDENTIALS_FILE: weblink,
    CALLERS: `${callers}`,
    CALLS_PER_SECOND: `${callsPerSecond}`,
    SCENE: scene,
    // OpenSSL, and so Python, Ruby and Go; requests of Python; curl
    SSL_CERT_FILE: ca,
    REQUESTS_CA_BUNDLE: ca,
    CURL_CA_BUNDLE: ca,
  }
}
