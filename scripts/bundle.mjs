// Makes a file of each door of core and of the adapters, after `tsc -b`, and one of what doors share: a process takes three to
// four times as long to find and read the compiler's many files. Dependencies stay imports, and maps name the sources beside them.
import { globSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const packages = fileURLToPath(new URL('../packages/', import.meta.url))
for (const name of ['core', 'fetch', 'axios', 'got', 'ky', 'undici']) await bundle(join(packages, name))

async function bundle(folder) {
  const dist = join(folder, 'dist')
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const doors = Object.values(manifest.exports).flatMap((file) => {
    const [, name] = /^\.\/src\/(.+)\.ts$/.exec(file) ?? []
    return name === undefined ? [] : [[name, join(folder, file)]]
  })
  const others = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })

  for (const file of globSync('**/*.js{,.map}', { cwd: dist })) rmSync(join(dist, file))
  const made = await rolldown({
    input: Object.fromEntries(doors),
    platform: 'neutral',
    external: [/^node:/, ...others.map((other) => new RegExp(`^${other}(/|$)`))],
  })
  await made.write({
    dir: dist,
    chunkFileNames: '[name].js',
    codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] },
    comments: false,
    sourcemap: true,
    sourcemapExcludeSources: true,
  })
  await made.close()
}
