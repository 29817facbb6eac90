import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import { rolldown } from 'rolldown'

import { readManifest } from './packages.ts'
import type { Project } from './project.ts'

/** What a package, or what is imported of it, weighs in a bundle, minified and gzipped, in bytes. */
export interface Size {
  readonly name: string
  readonly bytes: number
  readonly limit: number
}

const kB = 1_000
/** A tenth of core is what it uses of `oauth4webapi`, with all client authentications, and of `p-queue`. */
const limits = { core: 57.6 * kB, typical: 51.5 * kB, adapter: 4.02 * kB, redis: 12.2 * kB }

/**
 * Returns the sizes of core with its dependencies, of what a typical application imports of it, and of every package on
 * core, without core and its peers.
 */
export async function sizes({ folder, packages }: Project): Promise<Size[]> {
  const core = { name: '@tokenlane/core', external: [] as (string | RegExp)[], limit: limits.core }
  const typical = {
    name: 'core, typical use',
    bytes: await bundled(join(folder, 'typical.mjs'), []),
    limit: limits.typical,
  }
  const onCore = packages
    .map(({ name, installed }) => ({ name, manifest: readManifest(installed) }))
    .filter(({ manifest }) => manifest.dependencies?.[core.name] !== undefined)
    // what needs the sandbox runs in tests, where its size does not count
    .filter(({ manifest }) => manifest.dependencies?.['@tokenlane/sandbox'] === undefined)
    .map(({ name, manifest: { peerDependencies = {} } }) => ({
      name,
      external: [/^@tokenlane\/core(\/|$)/, ...Object.keys(peerDependencies)],
      limit: limitOf(name),
    }))
  const whole = await Promise.all(
    [core, ...onCore].map(async ({ name, external, limit }) => ({
      name,
      bytes: await bundled(join(folder, 'node_modules', name, 'dist/index.js'), external),
      limit,
    })),
  )
  return [typical, ...whole]
}

function limitOf(name: string): number {
  return name === '@tokenlane/redis' ? limits.redis : limits.adapter
}

async function bundled(input: string, external: readonly (string | RegExp)[]): Promise<number> {
  const bundle = await rolldown({ input, external: [/^node:/, ...external], platform: 'node' })
  const { output } = await bundle.generate({ minify: true })
  await bundle.close()
  return gzipSync(output.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('')).length
}
