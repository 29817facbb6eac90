// Packs every built package into the folder `tarballs`, and prints the line that installs them.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { installLine } from './install-line.ts'
import { publicPackages, readManifest, root } from './packages.ts'
import { must } from './run.ts'

const folder = join(root, 'tarballs')
const packages = publicPackages()

console.log(`Packing ${packages.length} packages into ${folder}`)
rmSync(folder, { recursive: true, force: true })
const each = packages.flatMap(({ name }) => ['--filter', name])
await must('packing', 'pnpm', ['--recursive', ...each, 'pack', '--pack-destination', folder], { cwd: root })

console.log(`
In the folder of your application, this installs the package for axios, and the command \`tokenlane\` with the sandbox.
For another client, name its tarball and the client in the place of those of axios:

${installLine(
  packages.map((item) => readManifest(item.folder)),
  folder,
)}`)
