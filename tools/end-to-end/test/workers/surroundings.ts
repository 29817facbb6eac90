import type { Sandbox } from '@tokenlane/sandbox'

/** What a worker knows of the sandbox, which is in another process. */
export type Surroundings = Pick<
  Sandbox,
  'authUrl' | 'weblinkAuthUrl' | 'apiUrl' | 'weblinkUrl' | 'credentials'
>

export function surroundingsOf(sandbox: Sandbox): Surroundings {
  const { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl, credentials } = sandbox
  return { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl, credentials }
}
