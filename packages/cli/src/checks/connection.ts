import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import type { ServerFacts } from '../facts/server.ts'

/** Finds servers that cannot be reached or do not offer safe TLS; distinguishes DNS, TCP, proxy and TLS version. */
export function checkConnections({ servers }: Facts): Finding[] {
  return servers.flatMap((server) =>
    server.failure === undefined
      ? []
      : [(server.throughFetch ? ownFetch : findingOf)(server, server.failure)],
  )
}

const tlsTooOld = /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW/
const unknownHost = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME'])

function findingOf({ origin, roles, proxy }: ServerFacts, code: string): Finding {
  const what = roles.join(', ')
  const why = `Requests to ${what} fail.`
  if (tlsTooOld.test(code))
    return finding('tls-too-old', 'error', origin, {
      seen: `The server does not offer TLS 1.2 or later (${code}).`,
      why: `${why} Tokenlane sends no secret below TLS 1.2.`,
      fix: 'Ask its operator for TLS 1.2 or later. Check that nothing on the way opens TLS.',
    })
  if (proxy?.used === true)
    return finding('proxy-failed', 'error', origin, {
      seen: `The way through the proxy ${proxy.place} of ${proxy.variable} failed (${code}).`,
      why,
      fix: `Check ${proxy.variable} and that the proxy allows this host, or name the host in NO_PROXY.`,
    })
  if (proxy !== undefined)
    return finding('proxy-unused', 'error', origin, {
      seen: `The direct way failed (${code}); ${proxy.variable} names the proxy ${proxy.place}, which Node does not use.`,
      why,
      fix: 'Set NODE_USE_ENV_PROXY=1 (Node 22.21 or later), or unset the variable if no proxy is needed.',
    })
  if (unknownHost.has(code))
    return finding('host-unknown', 'error', origin, {
      seen: `DNS has no address for this host (${code}).`,
      why,
      fix: 'Check the spelling of the URL, and the DNS of this machine or its VPN.',
    })
  if (code === 'ECONNREFUSED')
    return finding('connection-refused', 'error', origin, {
      seen: `The port refuses connections (${code}).`,
      why,
      fix: 'Check the port in the URL. If it is right, the server is down, or a firewall refuses.',
    })
  return finding('connection-failed', 'error', origin, {
    seen: `The connection failed (${code}).`,
    why,
    fix: 'Usually a firewall, or a proxy that must be used: ask for this host and port to be opened, or set HTTPS_PROXY and NODE_USE_ENV_PROXY=1.',
  })
}

const isCertificateCode = /CERT|UNABLE_TO_|SELF_SIGNED/

/** Returns the finding for an application's `fetch` that fails; it says whether the direct way works. */
function ownFetch({ origin, roles, throughFetch }: ServerFacts, code: string): Finding {
  const { directly } = throughFetch ?? {}
  return finding('own-fetch-failed', 'error', origin, {
    seen: `The \`fetch\` of the application does not reach it (${code}); the direct way ${directly === undefined ? 'does' : `fails, too (${directly})`}.`,
    why: `Token requests to ${roles.join(', ')} go by the option \`fetch\`: without a token no call is sent.`,
    fix: isCertificateCode.test(code)
      ? 'Give its dispatcher or agent the authority (`ca`), or name the file in NODE_EXTRA_CA_CERTS.'
      : `Check the proxy, dispatcher or agent of this \`fetch\`${directly === undefined ? ', or leave the option out' : ', and the URL'}.`,
  })
}
