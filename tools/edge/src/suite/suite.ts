import { fileURLToPath } from 'node:url'

import { startSandbox } from '@tokenlane/sandbox'

import { bundled, type BundleOptions } from '../bundle.ts'
import { startWorkerd } from '../workerd.ts'
import { openPlayer, type Player, type Unplayed } from './player.ts'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const worker = here('../worker/suite.ts')

/** What the suite has in Node, and a worker cannot have. */
const instead = { '/scripted-api.ts': here('scripted-api.ts'), '/listeners.ts': here('listeners.ts') }
/** The driver of fetch imports its sources. */
const installed = { '../src/index.ts': '@tokenlane/fetch' }

const withoutServers: Unplayed = {
  scenarios: /provoked outcomes/,
  because: 'This scenario starts servers that do not speak HTTP, which this runtime cannot do:',
}

/** What cannot be played in workerd. */
export const unplayedInWorkerd: readonly Unplayed[] = [withoutServers]

/** What cannot be played in the edge runtime of Next.js. */
export const unplayedInNext: readonly Unplayed[] = [
  withoutServers,
  {
    scenarios: /of type Node stream/,
    because: 'This scenario sends a `node:stream` stream, which the edge runtime does not have:',
  },
]

/** Starts sandbox and workerd. `packagesOf` is a folder in which the packages to be tested are installed. */
export async function openSuite(packagesOf?: string): Promise<Player> {
  const sandbox = await startSandbox({ records: 30 })
  const bundle: BundleOptions =
    packagesOf === undefined ? { instead } : { packagesOf, instead: { ...instead, ...installed } }
  const workerd = await startWorkerd({ worker, sandbox, bundle })
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

/** Returns the suite as a module whose `POST` is the handler of a route of Next.js, which brings the packages. */
export function suiteForNext(): Promise<string> {
  const absent = here('absent.ts')
  return bundled(worker, {
    instead: { ...instead, ...installed, 'node:stream': absent, 'node:http': absent, 'node:util': absent },
    external: /^@tokenlane\/(?:core|fetch)/,
  })
}
