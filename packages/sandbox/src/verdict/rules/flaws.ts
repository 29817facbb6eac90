import type { Flaw, JournalEntry } from '../../journal/entry.ts'
import { plural } from '../../in-words.ts'
import { isTyped, type Rule } from '../rule.ts'

interface Text extends Pick<Rule, 'message' | 'fix'>, Partial<Pick<Rule, 'severity'>> {
  isNote?: (entry: JournalEntry) => boolean
}

/** Message and fix for each mistake that one request shows by itself. */
const texts: Record<Flaw, Text> = {
  'client-authentication': {
    message: (count) => `${plural(count, 'token request')} did not authenticate as the issuer requires`,
    fix: 'Send each issuer the client_id and client_secret registered there, as form fields (RFC 6749 §2.3.1) or as its clientAuthentication option requires.',
  },
  'content-type': {
    message: (count) => `${plural(count, 'token request')} had a body that was not a form`,
    fix: 'Send the fields as application/x-www-form-urlencoded (RFC 6749 §4.4.2).',
  },
  'token-request': {
    message: (count) => `${plural(count, 'token request')} could not be granted`,
    fix: "POST grant_type=client_credentials to the token endpoint, with scope=WebLinkAPI at the weblink issuer and no scope at the general one, unless an issuer's scope option names others.",
  },
  'no-metadata': {
    severity: 'warning',
    message: (count) => `${plural(count, 'request')} asked for metadata that the issuer does not publish`,
    fix: 'Start the sandbox with --metadata (in a test, set metadata for its issuers), or give the client the token endpoint.',
  },
  'expired-token': {
    message: (count) => `${plural(count, 'call')} sent an expired token`,
    fix: 'Count expires_in from the moment you send the token request, and renew before expiry (RFC 6749 §5.1).',
  },
  'foreign-token': {
    message: (count) => `${plural(count, 'call')} sent a token that the API's issuer did not issue`,
    fix: 'Choose the token by the call\'s URL: each API only accepts tokens from its own issuer. If a call sent the text "undefined", check the status and access_token of the token response.',
  },
  'missing-token': {
    message: (count) => `${plural(count, 'call')} had no token`,
    fix: 'Send "Authorization: Bearer <token>" with every call, including those after a redirect within the API.',
    isNote: ({ client }) => isTyped(client),
  },
  'token-outside': {
    message: (count) => `${plural(count, 'request')} outside the API carried a token`,
    fix: 'Send a token only to URLs under the base URL of its API, and drop it on redirects to other URLs.',
  },
  'token-in-url': {
    message: (count) => `${plural(count, 'request')} had a token in the URL, which logs and proxies keep`,
    fix: 'Send the token only in the Authorization header (RFC 6750 §2.3, RFC 9700 §4.3.2).',
  },
  'secret-in-url': {
    message: (count) =>
      `${plural(count, 'request')} had a client secret in the URL, which logs and proxies keep`,
    fix: "Send the secret only in the token request's form (RFC 6749 §2.3.1), and rotate it now.",
  },
  'over-limit': {
    message: (count) => `${plural(count, 'call')} went over the rate limit`,
    fix: "Wait in the client until the call fits into every window of the API's rate policy.",
  },
  'expired-assertion': {
    message: (count) => `${plural(count, 'token request')} sent an assertion that had expired`,
    fix: 'Read or request a new assertion for each token request, and do not keep it (RFC 7523 §3).',
  },
  'foreign-assertion': {
    message: (count) => `${plural(count, 'token request')} sent an assertion for another audience`,
    fix: 'Request the assertion for this issuer: set the audience of a projected token, or aud in one that you sign (RFC 7523 §3).',
  },
  'replayed-assertion': {
    message: (count) => `${plural(count, 'token request')} sent an assertion that had already been used`,
    fix: 'Make a new assertion with a new jti for each token request, including retries after a failure (RFC 7523 §3).',
  },
  'stale-assertion': {
    severity: 'warning',
    message: (count) =>
      `${plural(count, 'token request')} sent an assertion whose file had been replaced long before`,
    fix: 'Read the file for each token request: an assertion kept from start-up expires.',
  },
  'old-tls': {
    message: (count) => `${plural(count, 'connection')} offered a TLS version below 1.2`,
    fix: "Set the client's minimum TLS version to 1.2 (RFC 8996): --tlsv1.2 in curl.",
    // beside a newer version, which the sandbox takes
    isNote: ({ decision }) => decision === 'answered',
  },
}

export const flawRules: readonly Rule[] = (Object.keys(texts) as Flaw[]).map((flaw) => flawRule(flaw))

function flawRule(flaw: Flaw): Rule {
  const { severity = 'error', message, fix, isNote = () => false } = texts[flaw]
  return {
    name: flaw,
    severity,
    message,
    fix,
    watch: (report) => ({
      see({ entry, flaws }) {
        if (flaws.includes(flaw)) report({ evidence: [entry.id], isNote: isNote(entry) })
      },
    }),
  }
}
