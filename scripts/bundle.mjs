// Makes a file of each door of core, after `tsc -b`, and one of what the doors share: the compiler's 130 files take a
// process three to four times as long to find and read. Dependencies stay imports, and maps name the sources beside them.
import { globSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const core = fileURLToPath(new URL('../packages/core/', import.meta.url))
const dist = join(core, 'dist')
const { exports, dependencies } = JSON.parse(readFileSync(join(core, 'package.json'), 'utf8'))
const doors = Object.values(exports).flatMap((file) => {
  const [, name] = /^\.\/src\/(.+)\.ts$/.exec(file) ?? []
  return name === undefined ? [] : [[name, join(core, file)]]
})

for (const file of globSync('**/*.js{,.map}', { cwd: dist })) rmSync(join(dist, file))
const bundle = await rolldown({
  input: Object.fromEntries(doors),
  platform: 'neutral',
  external: [...Object.keys(dependencies), /^node:/],
})
await bundle.write({
  dir: dist,
  chunkFileNames: '[name].js',
  codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] },
  comments: false,
  sourcemap: true,
  sourcemapExcludeSources: true,
})
await bundle.close()
