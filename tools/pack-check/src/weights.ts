// Prints what each door of core weighs in a bundle, and which room of it weighs what: `pnpm --dir tools/pack-check weights`. Bundles the
// sources, so that it needs no build; a package that is a dependency counts as a room.
import { SourceMap } from 'node:module'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import { rolldown } from 'rolldown'

import { root } from './packages.ts'

const core = join(root, 'packages/core/src')
const typical = 'createTokenManager, envCredentials, generalIssuer, weblinkIssuer'
const doors: Readonly<Record<string, string>> = {
  'a typical application': `export { ${typical} } from '${core}/index.ts'`,
  '@tokenlane/core': `export * from '${core}/index.ts'`,
  '@tokenlane/core/adapter': `export * from '${core}/adapter.ts'`,
  '@tokenlane/core/fleet': `export * from '${core}/fleet.ts'`,
  '@tokenlane/core/tenants': `export * from '${core}/tenants.ts'`,
}

const bundles = new Map<string, Bundle>()
for (const [door, code] of Object.entries(doors)) bundles.set(door, await bundle(code))
for (const [door, { code }] of bundles) console.log(row(door, code))

for (const door of ['a typical application', '@tokenlane/core']) {
  console.log(`\n${door}, by room; gzipped alone, so the sum is more than the whole`)
  const rooms = [...roomsOf(bundles.get(door) as Bundle)].toSorted(([, a], [, b]) => b.length - a.length)
  for (const [room, code] of rooms) console.log(row(room, code))
}

interface Bundle {
  readonly code: string
  readonly map: SourceMap
}

async function bundle(entry: string): Promise<Bundle> {
  const built = await rolldown({
    input: 'entry',
    platform: 'node',
    external: /^node:/,
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? id : undefined),
        load: (id) => (id === 'entry' ? entry : undefined),
      },
    ],
  })
  const { output } = await built.generate({ minify: true, sourcemap: true })
  await built.close()
  const [{ code, map }] = output
  if (map === null) throw new Error('no source map')
  return {
    code: code.replace(/\/\/# sourceMappingURL.*/, ''),
    map: new SourceMap({ ...map, sourceRoot: '' }),
  }
}

/** Returns the minified code of each room. */
function roomsOf({ code, map }: Bundle): Map<string, string> {
  const rooms = new Map<string, string>()
  for (const [line, text] of code.split('\n').entries())
    for (let column = 0; column < text.length; column += 1) {
      const entry = map.findEntry(line, column)
      const room = roomOf('originalSource' in entry ? entry.originalSource : '')
      rooms.set(room, (rooms.get(room) ?? '') + text.charAt(column))
    }
  return rooms
}

/** `issuer/` for `packages/core/src/issuer/discovery.ts`, `oauth4webapi` for a file of that package. */
function roomOf(source: string): string {
  const [, dependency] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source) ?? []
  const [, room = 'the bundle itself'] = /packages\/core\/src\/([^/]+\/?)/.exec(source) ?? []
  return dependency ?? room
}

function row(name: string, code: string): string {
  const [minified, gzipped] = [code.length, gzipSync(code).length].map((bytes) => (bytes / 1_000).toFixed(1))
  return `${name.padEnd(24)} ${minified?.padStart(6)} kB minified ${gzipped?.padStart(5)} kB gzipped`
}
