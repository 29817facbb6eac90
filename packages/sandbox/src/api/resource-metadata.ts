import { json, type Answer } from '../server/answer.ts'

/** What an API says of itself (RFC 9728 §2), and how it sends a call without a token there (§5.1). */
export interface ResourceMetadata {
  answer: Answer
  challenge: string
}

/** Where it is; the path of a URL of the API may follow (RFC 9728 §3.1). */
export const resourceMetadataPath = '/.well-known/oauth-protected-resource'

export function resourceMetadata(baseUrl: string, issuer: string, scope: string): ResourceMetadata {
  const scopes = scope === '' ? {} : { scopes_supported: scope.split(' ') }
  const place = new URL(resourceMetadataPath, baseUrl).href
  return {
    answer: json({
      resource: baseUrl,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
      ...scopes,
    }),
    challenge: `Bearer resource_metadata="${place}"${scope === '' ? '' : `, scope="${scope}"`}`,
  }
}
