import { fileURLToPath } from 'node:url'

import { startSandbox } from '@tokenlane/sandbox'

import { startWorkerd } from '../workerd.ts'
import { openPlayer, type Player } from './player.ts'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** What the suite has in Node, and a worker cannot have. */
const instead = { '/scripted-api.ts': here('scripted-api.ts'), '/listeners.ts': here('listeners.ts') }

/** Starts sandbox and workerd. */
export async function openSuite(): Promise<Player> {
  const sandbox = await startSandbox({ records: 30 })
  const workerd = await startWorkerd({ worker: here('../worker/suite.ts'), sandbox, instead })
  const player = await openPlayer(workerd.origin, sandbox)
  return {
    play: player.play,
    async [Symbol.asyncDispose]() {
      await workerd[Symbol.asyncDispose]()
      await player[Symbol.asyncDispose]()
      await sandbox.close()
    },
  }
}
