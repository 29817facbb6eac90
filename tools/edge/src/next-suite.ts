import { startSandbox } from '@tokenlane/sandbox'

import { buildNextApp } from './next-app.ts'
import { openPlayer, type Player } from './suite/player.ts'

/** Starts sandbox and Next.js; the scenarios are played in a route of its edge runtime. */
export async function openNextSuite(): Promise<Player> {
  const sandbox = await startSandbox({ records: 30 })
  const app = await buildNextApp(sandbox)
  const server = await app.serve('start')
  const player = await openPlayer(`${server.origin}/suite`, sandbox)
  return {
    play: player.play,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      app[Symbol.dispose]()
      await player[Symbol.asyncDispose]()
      await sandbox.close()
    },
  }
}
