// Makes one file of each entry of a package's build, after `tsc -b`: loading forty takes three times as long.
// Comments stay in the sources and the types, where people read them: a runtime would skip them again at each start.
import { copyFileSync, globSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { form, held, inputOf, isPackage, mainFile } from './bundle-form.ts'

const packages = join(dirname(dirname(fileURLToPath(import.meta.url))), 'packages')

// those that an application loads at its start
for (const name of ['core', 'fetch', 'axios', 'got', 'ky', 'undici', 'redis', 'otel']) {
  const folder = join(packages, name)
  const dist = join(folder, 'dist')
  const holds = held[name] ?? []
  const { publishConfig } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  for (const file of globSync('**/*.js{,.map}', { cwd: dist })) rmSync(join(dist, file))
  const bundle = await rolldown({
    ...inputOf(publishConfig.exports, join(folder, 'src')),
    cwd: folder,
    platform: 'neutral',
    resolve: { conditionNames: ['import', 'default'] },
    // what else a package depends on stays where it is
    external: (id) => isPackage(id) && !holds.includes(id),
    preserveEntrySignatures: 'allow-extension',
  })
  const { output } = await bundle.write({
    dir: dist,
    ...form,
    // what another entry shares with the main one goes into the main one: each application would load a second file for it
    codeSplitting: { groups: [{ name: 'index', test: mainFile }] },
  })
  await bundle.close()
  // one such character, and V8 keeps the whole text of a file with two bytes for each character
  for (const { fileName, code = '' } of output)
    if (/[\u0100-\uFFFF]/.test(code)) throw new Error(`${name}: ${fileName} has a character beyond Latin-1`)
  // whose code is copied wants its licence beside it
  for (const dependency of holds)
    copyFileSync(licenceOf(join(folder, 'node_modules', dependency)), join(dist, `${dependency}.LICENSE.txt`))
}

/** `license` or `LICENSE.md` */
function licenceOf(folder) {
  const [file] = globSync('{license,LICENSE}{,.md}', { cwd: folder })
  if (file === undefined) throw new Error(`${folder} has no licence`)
  return join(folder, file)
}
