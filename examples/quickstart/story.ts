import { setTimeout } from 'node:timers/promises'
import type { Realm, SandboxControl } from '@tokenlane/sandbox'

import type { History } from './history.ts'
import type { Tone } from './progress.ts'

/** What the service does to the application while it reads; ends when the run is over. */
export async function unfold(control: SandboxControl, { duration, histories, tell }: Stage): Promise<void> {
  const start = performance.now()
  const reach = (part: number): Promise<void> => setTimeout(start + part * duration - performance.now())

  // In mid-life of both tokens: a call that is under way with an old token while the newer one is revoked too is
  // refused twice, and nothing is sent a third time.
  await reach(0.28)
  tell('--- all tokens are revoked', 'yellow')
  for (const history of Object.values(histories)) history.revokedAt.push(performance.now())
  control.revokeTokens()

  await reach(0.4)
  tell('--- general issuer: the secret is rotated, the old one is refused', 'yellow')
  histories.general.secretRotations += 1
  control.rotateSecret('general')

  await reach(0.56)
  const outage = 0.2 * duration
  tell(`--- the weblink issuer is down for ${(outage / 1_000).toFixed(1)} s`, 'yellow')
  histories.weblink.outages.push(outage)
  control.killIssuer('weblink', { for: outage })

  await reach(0.76)
  tell('--- the weblink issuer is back', 'yellow')
  await reach(1)
}

interface Stage {
  /** How long the run lasts, in milliseconds. */
  duration: number
  /** Where the story notes what explains a token request. */
  histories: Record<Realm, History>
  tell: (happening: string, tone: Tone) => void
}
